#include "stoker/train/plan/batching_stage.h"

namespace stoker {

const DatasetNode* BatchingStage(const Dataset& batches) {
  const DatasetNode* node = &batches.node();
  while (node->grouping().size > 0 && !node->grouping().numbered) node = &node->input().node();
  return node->grouping().numbered ? node : nullptr;
}

std::optional<int64_t> SamplesOf(const Dataset& batches) {
  const DatasetNode* const stage = BatchingStage(batches);
  if (stage == nullptr) return std::nullopt;
  const Cardinality samples = stage->input().cardinality();
  return samples.known() ? std::optional(samples.value()) : std::nullopt;
}

std::optional<int64_t> SamplesOfLastBatch(const Dataset& batches) {
  const std::optional<int64_t> samples = SamplesOf(batches);
  if (!samples || *samples == 0) return std::nullopt;
  const DatasetNode::Grouping grouping = BatchingStage(batches)->grouping();
  const int64_t left = *samples % grouping.size;
  const int64_t made = *samples / grouping.size + (left > 0 && !grouping.full ? 1 : 0);
  // Buckets are of other sizes.
  if (batches.cardinality() != Cardinality::Of(made)) return std::nullopt;
  return left > 0 && !grouping.full ? left : grouping.size;
}

}  // namespace stoker
