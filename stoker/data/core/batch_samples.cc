#include "stoker/data/core/batch_samples.h"

#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"

namespace stoker {
namespace {

// The node that makes the batches; null if their numbers do not say what they are made of.
const DatasetNode* FindBatching(const Dataset& batches) {
  const DatasetNode* at = &batches.node();
  while (KeepsKeys(*at)) at = &at->input().node();
  return at->grouping().numbered && at->random_access() ? at : nullptr;
}

}  // namespace

Result<std::vector<BatchSample>> SamplesInBatch(const Dataset& batches, uint64_t seed,
                                                const SampleKey& batch,
                                                std::span<const int64_t> rows,
                                                std::string_view field) {
  const DatasetNode* const batching = FindBatching(batches);
  if (batching == nullptr) {
    return Unimplemented("the samples of a batch are known only where it is read by position");
  }
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<Pass> pass,
                          Pass::Create(batches, Runtime::Inline(), {.seed = seed}));
  const Dataset& samples = batching->input();
  const Cardinality all = samples.cardinality();
  const ReadContext context(*pass, batch.epoch, /*vectorized=*/false);
  const std::shared_ptr<const SampleNames> names = FindSampleNames(samples);
  std::vector<BatchSample> found;
  for (const int64_t row : rows) {
    int64_t position = 0;
    const int64_t size = batching->grouping().size;
    if (row < 0 || row >= size || batch.index < 0 ||
        __builtin_mul_overflow(batch.index, size, &position) ||
        __builtin_add_overflow(position, row, &position) ||
        (all.known() && position >= all.value())) {
      return OutOfRange("there is no sample {} in a batch {} of {}", row, batch.index, size);
    }
    STOKER_ASSIGN_OR_RETURN(const Element sample, samples.node().Read(position, context));
    found.push_back({sample.key.index, names ? names->NameOfKey(sample.key, field) : ""});
  }
  return found;
}

}  // namespace stoker
