#include "stoker/data/recipe/numbered_pipeline.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/cache.h"
#include "stoker/data/options/build_stage.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/recipe/data_section.h"

namespace stoker {
namespace {

// Epochs are those of a `repeat`, whose rounds draw anew; below them there is room for the index.
constexpr int kIndexBits = 44;

int64_t NumberOf(const SampleKey& key) {
  return static_cast<int64_t>(key.epoch << kIndexBits) | key.index;
}

class NumberTransform final : public Transform {
 public:
  bool random() const override { return false; }
  bool works_on_columns() const override { return true; }

  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    Array number = scratch.NewArray(DType::kInt64, {});
    number.values<int64_t>()[0] = NumberOf(element.key);
    element.arrays.push_back(std::move(number));
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory&, Scratch& scratch) const override {
    Array numbers = scratch.NewArray(DType::kInt64, {rows.size()});
    std::ranges::transform(rows.keys, numbers.values<int64_t>().begin(), NumberOf);
    rows.columns.push_back(std::move(numbers));
    return OkStatus();
  }
};

Dataset WithNumbers(const Dataset& input, const std::string& field) {
  Spec spec = input.spec();
  spec.fields.push_back({field, DType::kInt64, {}});
  return MapDataset(input, "sample_numbers", field, std::move(spec),
                    std::make_shared<NumberTransform>());
}

// Whether keys are numbers in one source: those of zip or interleave are made of several.
bool HasKeysOfOneSource(const Dataset& dataset) {
  const Dataset* at = &dataset;
  while (KeepsKeys(at->node())) at = &at->node().input();
  return at->node().inputs().empty();
}

// One entry of the list: how it is made, and what has been made up to its end.
struct Stage {
  OperatorRegistry::Configured configured;
  Dataset behind;
};

std::vector<ConfigNode> EntriesOf(const std::vector<Stage>& stages) {
  std::vector<ConfigNode> entries;
  for (const Stage& stage : stages) entries.push_back(stage.configured.node);
  return entries;
}

// A name that no field has at any stage.
std::string FreeName(const std::vector<Stage>& stages) {
  const auto has = [](const std::string& name) {
    return [&name](const Stage& stage) {
      return std::ranges::count(stage.behind.spec().fields, name, &Field::name) > 0;
    };
  };
  std::string name = "#";
  while (std::ranges::any_of(stages, has(name))) name += '#';
  return name;
}

// The nodes of a stage (`on_error` makes a second one), the last one first.
std::vector<const DatasetNode*> NodesOf(const std::vector<Stage>& stages, size_t number) {
  const DatasetNode* const end = number == 0 ? nullptr : &stages[number - 1].behind.node();
  std::vector<const DatasetNode*> nodes;
  const DatasetNode* at = &stages[number].behind.node();
  while (at != end) {
    nodes.push_back(at);
    if (at->inputs().size() != 1) break;
    at = &at->input().node();
  }
  return nodes;
}

// Its draws are keyed by the stage's number in the pass.
bool Draws(const DatasetNode* node) { return node->random(); }

// Where the numbers may be inserted.
struct Place {
  size_t stage = 0;  // after this one
  bool numbers_source = false;
};

// The first place possible, since stages that make pictures of files are fast only side by side,
// right before the batch. Nothing if there is none.
std::optional<Place> PlaceForNumbers(const std::vector<Stage>& stages) {
  Place place{.numbers_source = HasKeysOfOneSource(stages.front().behind)};
  if (!place.numbers_source && FindSampleNames(stages.front().behind) == nullptr)
    return std::nullopt;
  size_t i = 1;
  for (; i < stages.size(); ++i) {
    const std::vector<const DatasetNode*> nodes = NodesOf(stages, i);
    if (!std::ranges::all_of(nodes, [](const auto* node) { return KeepsKeys(*node); })) {
      // A stage that draws samples gives them other keys, by which they still have names.
      if (FindSampleNames(stages[i].behind) == nullptr) break;
      place = {.stage = i, .numbers_source = false};
      continue;
    }
    // A cache is made anew if a stage before it differs.
    if (std::ranges::any_of(
            nodes, [](const auto* node) { return Draws(node) || node->name() == Cache::kName; }))
      place.stage = i;
  }
  for (; i < stages.size(); ++i) {
    if (std::ranges::any_of(NodesOf(stages, i), Draws)) return std::nullopt;
  }
  return place;
}

// The stages again with the numbers put in; nothing if one of them does not take the field.
std::optional<Dataset> BuildWithNumbers(const std::vector<Stage>& stages, size_t place,
                                        const std::string& field) {
  Dataset dataset = WithNumbers(stages[place].behind, field);
  const std::vector<ConfigNode> entries = EntriesOf(stages);
  for (size_t i = place + 1; i < stages.size(); ++i) {
    const OperatorRegistry::Configured& stage = stages[i].configured;
    Result<Dataset> built =
        BuildStage(stage, stage.node.location, std::span(entries).first(i), dataset);
    if (!built.ok()) return std::nullopt;
    dataset = *std::move(built);
  }
  return dataset;
}

Result<std::vector<Stage>> BuildStages(const ConfigNode& list, const std::filesystem::path& root) {
  std::vector<Stage> stages;
  for (const ConfigNode& entry : list.items) {
    STOKER_ASSIGN_OR_RETURN(auto configured, ParseStage(entry, root));
    const std::optional<Dataset> input =
        stages.empty() ? std::nullopt : std::optional(stages.back().behind);
    STOKER_ASSIGN_OR_RETURN(Dataset built,
                            BuildStage(configured, entry.location, EntriesOf(stages), input));
    stages.push_back({std::move(configured), std::move(built)});
  }
  return stages;
}

std::vector<std::string> DisturbancesOf(const std::vector<Stage>& stages) {
  std::vector<std::string> disturbances;
  for (size_t i = 0; i < stages.size(); ++i) {
    for (const DatasetNode* node : NodesOf(stages, i)) {
      // What a source gives is all there is.
      if (node->inputs().empty() || node->Disturbs().empty()) continue;
      disturbances.push_back(fmt::format("{} {}", node->name(), node->Disturbs()));
    }
  }
  return disturbances;
}

}  // namespace

SampleKey KeyOfNumber(int64_t number) {
  return {.epoch = static_cast<uint64_t>(number) >> kIndexBits,
          .index = number & ((int64_t{1} << kIndexBits) - 1)};
}

Result<NumberedPipeline> ParseNumberedEvalPipeline(const ConfigNode& recipe,
                                                   const std::filesystem::path& recipe_folder) {
  STOKER_ASSIGN_OR_RETURN(const EvalList eval, FindEvalList(recipe, recipe_folder));
  STOKER_ASSIGN_OR_RETURN(const std::vector<Stage> stages, BuildStages(eval.list, eval.root));
  NumberedPipeline pipeline{.batches = stages.back().behind,
                            .number = {},
                            .numbers_source = false,
                            .names = nullptr,
                            .disturbances = DisturbancesOf(stages)};
  const std::optional<Place> place = PlaceForNumbers(stages);
  if (!place) return pipeline;
  const std::string field = FreeName(stages);
  const std::optional<Dataset> numbered = BuildWithNumbers(stages, place->stage, field);
  if (!numbered) return pipeline;
  const auto& fields = numbered->spec().fields;
  const auto found = std::ranges::find(fields, field, &Field::name);
  if (found == fields.end() || found->dtype != DType::kInt64) return pipeline;
  if (found->shape.empty()) {
    return InvalidArgument(
        "{}: data.eval gives sample by sample; end it with `batch` (or `padded_batch`)",
        eval.list.location.ToString());
  }
  if (found->shape.size() > 1) return pipeline;
  pipeline.batches = *numbered;
  pipeline.number = field;
  pipeline.numbers_source = place->numbers_source;
  pipeline.names = FindSampleNames(stages[place->stage].behind);
  return pipeline;
}

}  // namespace stoker
