#include "stoker/tools/commands/pipeline_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/data/runtime/pipeline_costs.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr std::string_view kAdded = " (added by bench)";
// Below this share of the time the consumer does not wait for the pipeline but the other way round.
constexpr double kConsumerWaits = 0.05;

std::string_view WayText(Way way) {
  switch (way) {
    case Way::kByPosition: return "by position: each thread makes whole chunks";
    case Way::kHop: return "a stream: one thread at a time pulls it, each maps what it pulled";
    case Way::kInOrder: break;
  }
  return "in order, on the thread that pulls it";
}

bool Holds(const DatasetNode& pipeline, const DatasetNode* node) {
  return &pipeline == node || std::ranges::any_of(pipeline.inputs(), [&](const Dataset& input) {
    return Holds(input.node(), node);
  });
}

void FindLimit(const PipelineCosts& costs, std::string stage, PipelineExplanation& out) {
  if (costs.waited < kConsumerWaits) {
    out.limit = "consumer";
    out.limit_why =
        fmt::format("it waited {:.0f}% of the time: whatever reads the pipeline is the slower side",
                    100 * costs.waited);
    return;
  }
  out.limit = std::move(stage);
  out.limit_why = fmt::format("{}; the consumer waited {:.0f}% of the time for the pipeline",
                              costs.WhyItLimits(), 100 * costs.waited);
}

Json ToJson(const ExplainedStage& stage) {
  return {{"name", stage.name},
          {"elements", stage.elements},
          {"elements_per_s", stage.elements_per_s},
          {"us_per_element", stage.us_per_element},
          {"busy_share", stage.busy_share}};
}

std::string GroupText(const ExplainedGroup& group, size_t number) {
  std::string names;
  for (const ExplainedStage& stage : group.stages)
    names += (names.empty() ? "" : ", ") + stage.name;
  std::string text = fmt::format("  {}. {}\n     {}\n", number, names, group.way);
  if (group.depth > 0) {
    text += fmt::format(
        "     in the end {} thread{}, up to {} chunks ahead, {} element{} a chunk\n", group.threads,
        group.threads == 1 ? "" : "s", group.depth, group.chunk, group.chunk == 1 ? "" : "s");
  }
  return text;
}

std::string StageTable(const std::vector<ExplainedGroup>& groups) {
  std::vector<std::vector<std::string>> rows = {
      {"stage", "elements/s", "us/element", "busy, of its threads"}};
  for (const ExplainedGroup& group : groups) {
    for (const ExplainedStage& stage : group.stages) {
      rows.push_back({stage.name, WithThousands(stage.elements_per_s),
                      fmt::format("{:.3g}", stage.us_per_element),
                      fmt::format("{:.0f}%", 100 * stage.busy_share)});
    }
  }
  return TableText(rows, 2);
}

}  // namespace

PipelineExplanation ExplainPipeline(const Dataset& written, const Dataset& run, bool threaded,
                                    const Iterator& iterator) {
  const PipelineCosts costs = CostsOf(run, iterator);
  const auto shown = [&](const StageCost& stage) {
    return stage.node->name() + std::string(Holds(written.node(), stage.node) ? "" : kAdded);
  };
  PipelineExplanation out{.written = written.ToString(),
                          .groups = {},
                          .decisions = iterator.decisions().decisions(),
                          .decisions_left_out = iterator.decisions().left_out()};
  for (const GroupCost& group : costs.groups) {
    ExplainedGroup explained{
        .way = threaded ? std::string(WayText(group.way)) : "inline, one element after the other",
        .threads = group.threads,
        .depth = group.depth,
        .chunk = group.chunk,
        .stages = {}};
    for (const StageCost& stage : group.stages) {
      explained.stages.push_back({.name = shown(stage),
                                  .elements = stage.elements,
                                  .elements_per_s = stage.elements_per_s,
                                  .us_per_element = stage.us_per_element,
                                  .busy_share = stage.busy_share});
    }
    out.groups.push_back(std::move(explained));
  }
  FindLimit(costs, shown(costs.limiting_stage()), out);
  return out;
}

void MarkAddedStages(const Dataset& written, const Dataset& run, Profile& profile) {
  // Added stages come after all written ones, and a profile has the source first.
  size_t from_the_end = 0;
  for (const DatasetNode* node = &run.node(); node != &written.node();
       node = &node->input().node()) {
    profile.stages[profile.stages.size() - ++from_the_end].name += kAdded;
  }
}

Json PipelineExplanation::ToJson() const {
  Json groups_json = Json::array();
  for (const ExplainedGroup& group : groups) {
    Json stages = Json::array();
    for (const ExplainedStage& stage : group.stages) stages.push_back(stoker::ToJson(stage));
    groups_json.push_back({{"way", group.way},
                           {"threads", group.threads},
                           {"depth", group.depth},
                           {"chunk", group.chunk},
                           {"stages", std::move(stages)}});
  }
  Json decisions_json = Json::array();
  for (const Decision& decision : decisions) decisions_json.push_back(decision.ToJson());
  return {{"written", written},
          {"groups", std::move(groups_json)},
          {"decisions", std::move(decisions_json)},
          {"decisions_left_out", decisions_left_out},
          {"limit", limit},
          {"limit_why", limit_why}};
}

std::string PipelineExplanation::ToText() const {
  std::string text = "as written\n";
  size_t begin = 0;
  for (size_t end; (end = written.find('\n', begin)) != std::string::npos; begin = end + 1) {
    text += "  " + written.substr(begin, end + 1 - begin);
  }
  text += "as run\n";
  for (size_t i = 0; i < groups.size(); ++i) text += GroupText(groups[i], i + 1);
  text += "choices\n";
  if (decisions.empty()) text += "  none: nothing runs on threads\n";
  for (const Decision& decision : decisions) text += "  " + decision.ToString() + "\n";
  if (decisions_left_out > 0) {
    text += fmt::format("  ({} in the middle are left out)\n", decisions_left_out);
  }
  text += "costs\n" + StageTable(groups);
  text += fmt::format("limit: {}; {}\n", limit, limit_why);
  return text;
}

}  // namespace stoker
