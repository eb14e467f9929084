#include "stoker/data/runtime/pipeline_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "stoker/base/profile.h"
#include "stoker/data/core/explanation.h"

namespace stoker {
namespace {

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

int64_t LastDecision(const std::vector<Decision>& decisions, const std::string& stage,
                     std::string_view what) {
  int64_t last = 0;
  for (const Decision& decision : decisions) {
    if (decision.stage == stage && decision.what == what) last = decision.to;
  }
  return last;
}

// The profiles of nodes, asked for in the profile's own order.
class StageFinder {
 public:
  explicit StageFinder(const Profile& profile) : profile_(profile) {}

  const StageProfile& Find(const DatasetNode& node) {
    for (size_t i = 0; i < profile_.stages.size(); ++i) {
      if (used_.contains(i) || profile_.stages[i].name != node.name()) continue;
      used_.insert(i);
      return profile_.stages[i];
    }
    static const StageProfile none;
    return none;
  }

 private:
  const Profile& profile_;
  std::set<size_t> used_;
};

double BusyShareOf(const GroupCost& group) {
  double share = 0;
  for (const StageCost& stage : group.stages) share += stage.busy_share;
  return share;
}

// "5.1 us", "51 ms", "2.3 s"
std::string MicrosecondsText(double us) {
  if (us < 1e3) return fmt::format("{:.3g} us", us);
  if (us < 1e6) return fmt::format("{:.3g} ms", us / 1e3);
  return fmt::format("{:.3g} s", us / 1e6);
}

}  // namespace

const GroupCost& PipelineCosts::limiting_group() const {
  return *std::ranges::max_element(groups, {}, BusyShareOf);
}

const StageCost& PipelineCosts::limiting_stage() const {
  return *std::ranges::max_element(limiting_group().stages, {}, &StageCost::busy_share);
}

double PipelineCosts::busy_threads() const {
  const GroupCost& group = limiting_group();
  return BusyShareOf(group) * static_cast<double>(group.threads);
}

std::string PipelineCosts::WhyItLimits() const {
  const int64_t threads = limiting_group().threads;
  const StageCost& stage = limiting_stage();
  // Earlier there may have been more threads than in the end.
  const std::string busy = stage.busy_share > 1
                               ? fmt::format("it kept {:.1f} threads busy",
                                             stage.busy_share * static_cast<double>(threads))
                               : fmt::format("{} thread{} spent {:.0f}% of the time in it", threads,
                                             threads == 1 ? "" : "s", 100 * stage.busy_share);
  return fmt::format("{}, {} for each of its elements", busy,
                     MicrosecondsText(stage.us_per_element));
}

PipelineCosts CostsOf(const Dataset& dataset, const Iterator& iterator) {
  const Profile profile = iterator.GetProfile();
  const std::vector<Decision> decisions = iterator.decisions().decisions();
  PipelineCosts costs;
  StageFinder finder(profile);
  double own_thread_s = 0;  // of the stages after the last queue
  for (const RunGroup& group : HowItRuns(dataset)) {
    const std::string& last = group.last().name();
    GroupCost cost{.way = group.way,
                   .threads = std::max<int64_t>(1, LastDecision(decisions, last, "threads")),
                   .depth = LastDecision(decisions, last, "depth"),
                   .chunk = LastDecision(decisions, last, "chunk"),
                   .stages = {}};
    if (cost.depth > 0) own_thread_s = 0;
    for (const DatasetNode* node : group.stages) {
      const StageProfile& stage = finder.Find(*node);
      if (cost.depth == 0) own_thread_s += stage.starved_s + stage.busy_s;
      const auto elements = static_cast<double>(stage.elements);
      cost.stages.push_back(
          {.node = node,
           .elements = stage.elements,
           .elements_per_s = Share(elements, profile.wall_s),
           .us_per_element = 1e6 * Share(stage.busy_s, elements),
           .busy_share = Share(stage.busy_s, profile.wall_s * static_cast<double>(cost.threads))});
    }
    costs.groups.push_back(std::move(cost));
  }
  costs.waited = Share(profile.consumer_waited_s + own_thread_s, profile.wall_s);
  return costs;
}

}  // namespace stoker
