#include "stoker/data/runtime/starvation.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/remote_path.h"
#include "stoker/data/runtime/pipeline_costs.h"

namespace stoker {
namespace {

bool ReadsFromServers(const DatasetNode& node) {
  return std::ranges::any_of(node.files(), IsRemotePath);
}

std::string AdviceFor(const GroupCost& group, const StageCost& stage, bool fixed_threads) {
  const DatasetNode& node = *stage.node;
  if (group.way == Way::kInOrder)
    return "end the pipeline with `prefetch`, so that it works while the model computes";
  std::string advice = fixed_threads ? "leave train.feed_threads out, so that threads are added "
                                       "while that helps; "
                                     : "";
  if (node.inputs().empty()) {
    advice += "put the samples into few large files (`stoker pack`) on a disk that is near";
    advice += ReadsFromServers(node) ? ", or keep copies of what comes from servers here "
                                       "(`data.remote.cache`)"
                                     : ", or put `cache` right after the source";
  } else if (node.random()) {
    advice += "give the feed more CPUs (train.feed_threads, fewer train.threads), or do less there";
  } else {
    advice += "put `cache` after it, so that it works once, or do it beforehand (`stoker pack`)";
  }
  return advice;
}

}  // namespace

LimitingStage FindLimitingStage(const Dataset& dataset, const Iterator& iterator,
                                bool fixed_threads) {
  const PipelineCosts costs = CostsOf(dataset, iterator);
  const StageCost& stage = costs.limiting_stage();
  return {.name = stage.node->name(),
          .why = costs.WhyItLimits(),
          .advice = AdviceFor(costs.limiting_group(), stage, fixed_threads)};
}

std::string Starvation::Sentence() const {
  return fmt::format("{:.0f}% of the time went into waiting for data, most of all for `{}` ({})",
                     100 * waited, limit.name, limit.why);
}

Json Starvation::ToJson() const {
  return {{"waited", waited}, {"stage", limit.name}, {"why", limit.why}, {"try", limit.advice}};
}

std::optional<Starvation> Starvation::FromJson(const Json& json) {
  const auto is_text = [&](const char* key) { return json.contains(key) && json[key].is_string(); };
  if (!json.is_object() || !json.value("waited", Json()).is_number() || !is_text("stage") ||
      !is_text("why") || !is_text("try")) {
    return std::nullopt;
  }
  return Starvation{.waited = json["waited"],
                    .limit = {.name = json["stage"], .why = json["why"], .advice = json["try"]}};
}

}  // namespace stoker
