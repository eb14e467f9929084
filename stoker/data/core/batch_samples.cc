#include "stoker/data/core/batch_samples.h"

#include <algorithm>

#include "stoker/data/core/row_share.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"

namespace stoker {
namespace {

// The node that makes the batches, and which of their rows the pipeline gives.
struct Batching {
  const DatasetNode* node =
      nullptr;  // null if the batches' numbers do not say what they are made of
  RowShare share;
};

Batching FindBatching(const Dataset& batches) {
  Batching found;
  const DatasetNode* at = &batches.node();
  while (true) {
    const auto* const shares = dynamic_cast<const SharesRows*>(at);
    if (shares != nullptr && !shares->rows_made().whole()) found.share = shares->rows_made();
    if (!KeepsKeys(*at)) break;
    at = &at->input().node();
  }
  if (at->grouping().numbered && at->random_access()) found.node = at;
  return found;
}

// Where only a rank's rows are given, they are numbered from 0 here, and from there in the batch.
int64_t RowsBefore(const Batching& batching, int64_t batch) {
  const int64_t size = batching.node->grouping().size;
  const Cardinality all = batching.node->input().cardinality();
  return batching.share.Begin(all.known() ? std::min(size, all.value() - batch * size) : size);
}

}  // namespace

Result<std::vector<BatchSample>> SamplesInBatch(const Dataset& batches, uint64_t seed,
                                                const SampleKey& batch,
                                                std::span<const int64_t> rows,
                                                std::string_view field) {
  const Batching batching = FindBatching(batches);
  if (batching.node == nullptr) {
    return Unimplemented("the samples of a batch are known only where it is read by position");
  }
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<Pass> pass,
                          Pass::Create(batches, Runtime::Inline(), {.seed = seed}));
  const Dataset& samples = batching.node->input();
  const Cardinality all = samples.cardinality();
  const ReadContext context(*pass, batch.epoch, /*vectorized=*/false);
  const std::shared_ptr<const SampleNames> names = FindSampleNames(samples);
  std::vector<BatchSample> found;
  for (const int64_t row : rows) {
    int64_t position = 0;
    const int64_t size = batching.node->grouping().size;
    if (row < 0 || row >= size || batch.index < 0 ||
        __builtin_mul_overflow(batch.index, size, &position) ||
        __builtin_add_overflow(position, row, &position) ||
        __builtin_add_overflow(position, RowsBefore(batching, batch.index), &position) ||
        (all.known() && position >= all.value())) {
      return OutOfRange("there is no sample {} in a batch {} of {}", row, batch.index, size);
    }
    STOKER_ASSIGN_OR_RETURN(const Element sample, samples.node().Read(position, context));
    found.push_back({sample.key.index, names ? names->NameOfKey(sample.key, field) : ""});
  }
  return found;
}

}  // namespace stoker
