#include "stoker/data/advice/limiting_stage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/remote_path.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/core/drawn_order.h"
#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/rewrites/picture_pass.h"
#include "stoker/data/runtime/pipeline_costs.h"
#include "stoker/io/remote/remote_options.h"
#include "stoker/io/remote/shard_cache.h"

namespace stoker {
namespace {

// Samples of so many files mostly have a file each, so opening them counts.
constexpr size_t kManyFiles = 64;

LimitingStage::RunBy RunByOf(const PipelineCosts& costs) {
  using RunBy = LimitingStage::RunBy;
  const GroupCost* const limiting = &costs.limiting_group();
  if (limiting->way != Way::kInOrder) return RunBy::kThreads;
  const auto behind = costs.groups.begin() + (limiting - costs.groups.data()) + 1;
  const bool ahead = std::any_of(behind, costs.groups.end(),
                                 [](const GroupCost& group) { return group.way != Way::kInOrder; });
  return ahead ? RunBy::kOneThread : RunBy::kConsumer;
}

// Whether there is a cache between the end of the pipeline, `from`, and `to`.
bool CachedBehind(const DatasetNode& from, const DatasetNode& to, bool passed_one) {
  if (&from == &to) return passed_one;
  const bool passed = passed_one || from.name() == Cache::kName;
  return std::ranges::any_of(
      from.inputs(), [&](const Dataset& input) { return CachedBehind(input.node(), to, passed); });
}

// The first stage that draws at random, from the source on, of those that `node` reads from.
std::string FirstRandomBefore(const DatasetNode& node) {
  for (const Dataset& input : node.inputs()) {
    std::string first = FirstRandomBefore(input.node());
    if (first.empty() && input.node().random()) first = input.node().name();
    if (!first.empty()) return first;
  }
  return "";
}

// Whether all that draws before `node` draws nothing but an order.
bool OnlyOrderIsDrawnBefore(const DatasetNode& node) {
  return std::ranges::all_of(node.inputs(), [](const Dataset& input) {
    const auto* const order = dynamic_cast<const DrawnOrder*>(&input.node());
    // The shuffle of a stream has no permutation.
    const bool draws_only_order =
        input.node().name() == Shuffle::kName || (order != nullptr && order->draws_order());
    return (!input.node().random() || draws_only_order) && OnlyOrderIsDrawnBefore(input.node());
  });
}

// What a stage makes of drawn samples is drawn too, unless it could stand before the draw: it works
// on one element at a time, and what is drawn is the order only.
LimitingStage::Work WorkOf(const DatasetNode& node) {
  using Work = LimitingStage::Work;
  if (node.inputs().empty()) return Work::kReads;
  const bool may_move = node.element_wise() != nullptr && OnlyOrderIsDrawnBefore(node);
  const bool draws = node.random() || (!may_move && !FirstRandomBefore(node).empty());
  return draws ? Work::kDraws : Work::kRepeats;
}

}  // namespace

LimitFinder::Files LimitFinder::FilesOf(const DatasetNode& source) const {
  const MutexLock lock(mutex_);
  const auto [place, is_new] = files_.try_emplace(&source);
  if (is_new) {
    const std::vector<std::string> files = source.files();
    place->second = {.many = files.size() >= kManyFiles,
                     .on_servers = std::ranges::any_of(files, IsRemotePath)};
  }
  return place->second;
}

LimitingStage LimitFinder::Find(const Iterator& iterator) const {
  const PipelineCosts costs = CostsOf(dataset_, iterator);
  const DatasetNode& node = FirstMapOf(*costs.limiting_stage().node);
  LimitingStage stage{.name = node.name(),
                      .why = costs.WhyItLimits(),
                      .run_by = RunByOf(costs),
                      .work = WorkOf(node),
                      .fixed_threads = fixed_threads_,
                      .all_cpus = costs.limiting_group().threads >= AvailableCpus(),
                      .cached = CachedBehind(dataset_.node(), node, /*passed_one=*/false),
                      .first_random = FirstRandomBefore(node),
                      .idle = costs.idle(),
                      .busy_threads = costs.busy_threads()};
  if (stage.work != LimitingStage::Work::kReads) return stage;
  const Files files = FilesOf(node);
  stage.many_files = files.many;
  stage.on_servers = files.on_servers;
  // What is read by position is either copied already or too small to be kept.
  stage.may_keep_copies = files.on_servers && !node.random_access() &&
                          !ShardCache::KeepsEverything(*CurrentRemoteOptions());
  return stage;
}

}  // namespace stoker
