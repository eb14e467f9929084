#include "stoker/tools/pipeline_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stoker/data/runtime/how_it_runs.h"
#include "stoker/tools/text.h"

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

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

int64_t LastDecision(const std::vector<Decision>& decisions, const std::string& stage,
                     std::string_view what) {
  int64_t last = 0;
  for (const Decision& decision : decisions) {
    if (decision.stage == stage && decision.what == what) last = decision.to;
  }
  return last;
}

bool Holds(const DatasetNode& pipeline, const DatasetNode* node) {
  return &pipeline == node || std::ranges::any_of(pipeline.inputs(), [&](const Dataset& input) {
    return Holds(input.node(), node);
  });
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

// `own_thread_s`: how long the stages worked or waited that run on the consumer's own thread; it
// waits for them as for those on others.
void FindLimit(const Profile& profile, double own_thread_s, PipelineExplanation& out) {
  const double waited = Share(profile.consumer_waited_s + own_thread_s, profile.wall_s);
  if (waited < kConsumerWaits) {
    out.limit = "consumer";
    out.limit_why =
        fmt::format("it waited {:.0f}% of the time: whatever reads the pipeline is the slower side",
                    100 * waited);
    return;
  }
  double busiest_group = -1;
  for (const ExplainedGroup& group : out.groups) {
    double share = 0;
    for (const ExplainedStage& stage : group.stages) share += stage.busy_share;
    if (share <= busiest_group) continue;
    busiest_group = share;
    const auto stage = std::ranges::max_element(group.stages, {}, &ExplainedStage::busy_share);
    out.limit = stage->name;
    out.limit_why = fmt::format(
        "{} thread{} spent {:.0f}% of the time in it, {:.3g} us for each of its elements; "
        "the consumer waited {:.0f}% of the time for the pipeline",
        group.threads, group.threads == 1 ? "" : "s", 100 * stage->busy_share,
        stage->us_per_element, 100 * waited);
  }
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
  const Profile profile = iterator.GetProfile();
  PipelineExplanation out{.written = written.ToString(),
                          .groups = {},
                          .decisions = iterator.decisions().decisions(),
                          .decisions_left_out = iterator.decisions().left_out()};
  StageFinder finder(profile);
  double own_thread_s = 0;  // of the stages behind the last queue
  for (const RunGroup& group : HowItRuns(run)) {
    const std::string& last = group.last().name();
    ExplainedGroup explained{
        .way = threaded ? std::string(WayText(group.way)) : "inline, one element after the other",
        .threads = std::max<int64_t>(1, LastDecision(out.decisions, last, "threads")),
        .depth = LastDecision(out.decisions, last, "depth"),
        .chunk = LastDecision(out.decisions, last, "chunk"),
        .stages = {}};
    if (explained.depth > 0) own_thread_s = 0;
    for (const DatasetNode* node : group.stages) {
      const StageProfile& stage = finder.Find(*node);
      if (explained.depth == 0) own_thread_s += stage.starved_s + stage.busy_s;
      const auto elements = static_cast<double>(stage.elements);
      explained.stages.push_back(
          {.name = node->name() + std::string(Holds(written.node(), node) ? "" : kAdded),
           .elements = stage.elements,
           .elements_per_s = Share(elements, profile.wall_s),
           .us_per_element = 1e6 * Share(stage.busy_s, elements),
           .busy_share =
               Share(stage.busy_s, profile.wall_s * static_cast<double>(explained.threads))});
    }
    out.groups.push_back(std::move(explained));
  }
  FindLimit(profile, own_thread_s, out);
  return out;
}

void MarkAddedStages(const Dataset& written, const Dataset& run, Profile& profile) {
  // What is added stands behind all that is written, and a profile has the source first.
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
