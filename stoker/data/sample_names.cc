#include "stoker/data/sample_names.h"

#include <algorithm>
#include <string_view>

#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shard.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"

namespace stoker {

bool KeepsKeys(const DatasetNode& node) {
  static constexpr std::string_view kKeepers[] = {
      Cache::kName, Filter::kName,  IgnoreErrors::kName, Prefetch::kName, Repeat::kName,
      Shard::kName, Shuffle::kName, Skip::kName,         Take::kName};
  if (node.inputs().size() != 1) return false;
  return node.element_wise() != nullptr || std::ranges::count(kKeepers, node.name()) > 0;
}

std::shared_ptr<const SampleNames> FindSampleNames(const Dataset& dataset) {
  const Dataset* at = &dataset;
  while (KeepsKeys(at->node())) at = &at->node().input();
  return std::dynamic_pointer_cast<const SampleNames>(at->shared_node());
}

}  // namespace stoker
