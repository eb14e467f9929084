#include "stoker/data/advice/fixed_order.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/unbatch.h"

namespace stoker {
namespace {

// The first ones draw, the last ones may.
constexpr std::array<std::string_view, 7> kDraw = {"shuffle", "sample",     "balance", "mix",
                                                   "choose",  "interleave", "flat_map"};

// Whether the elements of `dataset` are batches: none of its stages after the last batch takes them
// apart.
bool MakesBatches(const Dataset& dataset) {
  const std::string& name = dataset.node().name();
  if (name == Batch::kName || name == PaddedBatch::kName) return true;
  const std::vector<Dataset>& inputs = dataset.node().inputs();
  return name != Unbatch::kName && inputs.size() == 1 && MakesBatches(inputs.front());
}

}  // namespace

bool HasFixedOrder(const Dataset& dataset) {
  if (std::ranges::find(kDraw, dataset.node().name()) != kDraw.end()) return false;
  return std::ranges::all_of(dataset.node().inputs(), HasFixedOrder);
}

bool ShufflesOnlyBatches(const Dataset& dataset) {
  const std::vector<Dataset>& inputs = dataset.node().inputs();
  if (dataset.node().name() == Shuffle::kName)
    return HasFixedOrder(inputs.front()) && MakesBatches(inputs.front());
  return inputs.size() == 1 && ShufflesOnlyBatches(inputs.front());
}

std::optional<OrderHint> HintOfOrder(const Dataset& dataset) {
  if (HasFixedOrder(dataset)) return OrderHint{kFixedOrderProblem, kFixedOrderAdvice};
  if (ShufflesOnlyBatches(dataset))
    return OrderHint{kShuffledBatchesProblem, kShuffledBatchesAdvice};
  return std::nullopt;
}

}  // namespace stoker
