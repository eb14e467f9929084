#include "stoker/run/recipe.h"

#include <algorithm>
#include <iterator>
#include <system_error>

#include "stoker/base/problems.h"
#include "stoker/base/remote_path.h"
#include "stoker/data/options/feature_columns.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe_place.h"
#include "stoker/run/batch_per_rank.h"
#include "stoker/run/class_names_internal.h"
#include "stoker/run/input_section_internal.h"
#include "stoker/run/learned_train.h"
#include "stoker/run/loss_section_internal.h"
#include "stoker/run/metrics_section_internal.h"
#include "stoker/run/misplaced_keys.h"
#include "stoker/run/placed_entry_internal.h"
#include "stoker/run/target_section_internal.h"
#include "stoker/run/train_check.h"

namespace stoker {
namespace {

// The keys of `train:` that hold a section of their own.
constexpr std::string_view kNested[] = {
    "loss",        "optimizer", "schedule",   "warmup",        "lr_scaling",     "groups",
    "clip",        "average",   "checkpoint", "limit_batches", "early_stopping", "callbacks",
    "tensorboard", "init_from", "memory",     "metrics",       "distributed"};

bool IsNested(const std::string& key) {
  return std::ranges::find(kNested, key) != std::end(kNested);
}

// All keys that are not known, or that stand elsewhere: those are taken out of `section`. Adds the
// names that they were meant to be to `unread`.
Status CheckTrainKeys(ConfigNode& section, std::set<std::string, std::less<>>& unread) {
  std::vector<std::string> names(std::begin(kNested), std::end(kNested));
  for (const Option& option : OptionsOf<TrainOptions>()) names.push_back(option.name);
  Problems problems;
  problems.Add(TakeOutMisplaced(section, names));
  problems.Add(CheckKeys(section, "train", "key", names));
  std::erase_if(section.entries, [&](const ConfigNode::Entry& entry) {
    const bool unknown = std::ranges::find(names, entry.key) == names.end();
    if (unknown) unread.insert(NearestName(entry.key, names));
    return unknown;
  });
  return problems.ToStatus();
}

// The kind of that name, which is registered, with the defaults of its options.
template <typename R>
typename R::Configured KindCalled(std::string_view name) {
  return R::Known().Parse(ConfigNode::Scalar(std::string(name))).value();
}

// Reads the nested section of T's name, where there is one. With a mistake in it `options` stay as
// they are.
template <typename T>
Status ParsePart(const ConfigNode& section, T& options) {
  const ConfigNode* node = section.Find(T::kName);
  if (node == nullptr) return OkStatus();
  T parsed = options;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(*node, parsed));
  options = std::move(parsed);
  return OkStatus();
}

// Reads such a section whose keys mean something one by one: a mistake in one leaves the others as
// written.
template <typename T>
Status ParseKeys(const ConfigNode& section, T& options) {
  const ConfigNode* node = section.Find(T::kName);
  return node == nullptr ? OkStatus() : ParseOptionsOf(*node, options);
}

// All of them.
template <typename... T>
Status ParseParts(const ConfigNode& section, T&... options) {
  Problems problems;
  (problems.Add(ParsePart(section, options)), ...);
  return problems.ToStatus();
}

template <typename T>
ConfigNode::Entry FilledPart(const T& options) {
  return {std::string(T::kName), {}, FormatOptions(OptionsOf<T>(), &options)};
}

Status ParseCallbacks(const ConfigNode& section,
                      std::vector<CallbackRegistry::Configured>& callbacks) {
  const ConfigNode* node = section.Find("callbacks");
  if (node == nullptr || node->kind == ConfigNode::Kind::kNull) return OkStatus();
  if (node->kind != ConfigNode::Kind::kList) {
    return InvalidArgument(
        "{}: 'callbacks' is {}; it must be a list, such as callbacks: [{{stop_at: {{step: 100}}}}]",
        node->location.ToString(), node->KindName());
  }
  Problems problems;
  for (const ConfigNode& item : node->items) {
    Result<CallbackRegistry::Configured> parsed = ParsePlaced(CallbackRegistry::Known(), item);
    problems.Add(parsed.status());
    if (parsed.ok()) callbacks.push_back(*std::move(parsed));
  }
  return problems.ToStatus();
}

Status ParseGroups(const ConfigNode& section, std::vector<GroupOptions>& groups) {
  const ConfigNode* node = section.Find(GroupOptions::kName);
  if (node == nullptr || node->kind == ConfigNode::Kind::kNull) return OkStatus();
  if (node->kind != ConfigNode::Kind::kList) {
    return InvalidArgument(
        "{}: 'groups' is {}; it must be a list, such as groups: [{{match: \"*.bias\", "
        "weight_decay: 0}}]",
        node->location.ToString(), node->KindName());
  }
  Problems problems;
  for (const ConfigNode& item : node->items) {
    GroupOptions group;
    const Status parsed = ParseOptionsOf(item, group);
    problems.Add(parsed);
    if (parsed.ok()) groups.push_back(std::move(group));
  }
  return problems.ToStatus();
}

}  // namespace

LossRegistry::Configured DefaultLoss() { return KindCalled<LossRegistry>("cross_entropy"); }
OptimizerRegistry::Configured DefaultOptimizer() { return KindCalled<OptimizerRegistry>("adamw"); }
ScheduleRegistry::Configured DefaultSchedule() { return KindCalled<ScheduleRegistry>("one_cycle"); }

std::string FigureOfTarget(std::string_view target, std::string_view figure) {
  return fmt::format("{}.{}", target, figure);
}

ConfigNode TrainRecipe::Filled() const {
  ConfigNode filled = FormatOptions(OptionsOf<TrainOptions>(), &options);
  if (!options.inputs.empty()) *filled.Find("input") = FilledInputs(options.inputs, options.input);
  if (targets.empty()) {
    *filled.Find("target") = FilledTarget(options.target, target);
    filled.entries.push_back({"metrics", {}, FilledMetrics(metrics)});
    filled.entries.push_back({"loss", {}, FilledLoss(loss, balanced)});
  } else {
    *filled.Find("target") = FilledTargets(targets);
  }
  filled.entries.push_back({"optimizer", {}, optimizer.node});
  filled.entries.push_back({"schedule", {}, schedule.node});
  const auto add = [&](const auto& part) { filled.entries.push_back(FilledPart(part)); };
  add(warmup);
  add(lr_scaling);
  std::vector<ConfigNode> listed;
  for (const GroupOptions& group : groups) listed.push_back(FilledPart(group).value);
  filled.entries.push_back({"groups", {}, ConfigNode::List(std::move(listed))});
  add(clip);
  add(average);
  add(init_from);
  add(checkpoint);
  add(tensorboard);
  add(limit_batches);
  add(early_stopping);
  add(distributed);
  add(memory);
  std::vector<ConfigNode> called;
  for (const CallbackRegistry::Configured& callback : callbacks) called.push_back(callback.node);
  filled.entries.push_back({"callbacks", {}, ConfigNode::List(std::move(called))});
  return filled;
}

std::vector<MeasuredFigure> TrainRecipe::Figures() const {
  if (targets.empty()) return MetricRegistry::FiguresOf(metrics);
  std::vector<MeasuredFigure> figures;
  for (const TargetRecipe& each : targets) {
    std::vector<MeasuredFigure> own = MetricRegistry::FiguresOf(each.metrics);
    own.push_back({"loss", Better::kLower});
    own.push_back({"accuracy", Better::kHigher});
    for (const MeasuredFigure& figure : own)
      figures.push_back({FigureOfTarget(each.field, figure.name), figure.better});
  }
  return figures;
}

std::string TrainRecipe::NameOf(std::string_view key) const {
  const ConfigNode* node = written.Find(key);
  if (node == nullptr) return fmt::format("train.{}", key);
  return fmt::format("train.{} ({})", key, node->location.ToString());
}

ConfigNode Recipe::Filled() const {
  ConfigNode filled = ConfigNode::Map({{"data", {}, data.learned ? data.unlearned : data.filled},
                                       {"model", {}, model.node},
                                       {"train", {}, train.Filled()}});
  ConfigNode plugins = LoadedPlugins();
  if (!plugins.items.empty())
    filled.entries.insert(filled.entries.begin(), {"plugins", {}, std::move(plugins)});
  return filled;
}

Result<ModelRegistry::Configured> ParseModelSection(const ConfigNode& recipe) {
  const ConfigNode* section = recipe.Find("model");
  if (section == nullptr) {
    return InvalidArgument(
        "{}: the section 'model' is missing; it names one, such as model: {{convnet: {{classes: "
        "10}}}}",
        recipe.location.ToString());
  }
  return ParsePlaced(ModelRegistry::Known(), *section);
}

namespace {

// The section without the parts that have keys of their own.
ConfigNode PlainKeys(const ConfigNode& section) {
  ConfigNode plain = section;
  std::erase_if(plain.entries, [](const ConfigNode::Entry& entry) { return IsNested(entry.key); });
  return plain;
}

// The parts that a trial of a step depends on.
Status ParseStep(const ConfigNode& section, TrainRecipe& train) {
  Problems problems;
  if (const ConfigNode* node = section.Find("loss")) {
    problems.Take(ParseLoss(*node, train.balanced), train.loss);
  }
  if (const ConfigNode* node = section.Find("optimizer")) {
    problems.Take(ParsePlaced(OptimizerRegistry::Known(), *node), train.optimizer);
  }
  if (const ConfigNode* node = section.Find("schedule")) {
    problems.Take(ParsePlaced(ScheduleRegistry::Known(), *node), train.schedule);
  }
  problems.Add(ParseOptionsOf(PlainKeys(section), train.options));
  return problems.ToStatus();
}

// The others.
Status ParseRest(const ConfigNode& section, TrainRecipe& train) {
  Problems problems;
  problems.Add(ParseParts(section, train.warmup, train.lr_scaling, train.clip, train.average,
                          train.init_from, train.tensorboard, train.limit_batches,
                          train.distributed));
  problems.Add(ParseKeys(section, train.checkpoint));
  problems.Add(ParseKeys(section, train.early_stopping));
  problems.Add(ParseCallbacks(section, train.callbacks));
  problems.Add(ParseGroups(section, train.groups));
  problems.Take(MemoryOf(section), train.memory);
  return problems.ToStatus();
}

// Adds the plain keys whose values cannot be read to `unread`.
void AddUnreadKeys(const ConfigNode& section, std::set<std::string, std::less<>>& unread) {
  for (const ConfigNode::Entry& entry : PlainKeys(section).entries) {
    ConfigNode alone = section;
    alone.entries = {entry};
    TrainOptions ignored;
    if (!ParseOptionsOf(alone, ignored).ok()) unread.insert(entry.key);
  }
}

// Where the data have features, the input of a model is their row by default, and the target must
// be none of them.
Status SuitFeatures(const ConfigNode& recipe, TrainOptions& options) {
  const ConfigNode* const data = recipe.Find("data");
  if (data == nullptr || !HasFeatures(*data)) return OkStatus();
  const ConfigNode* const train = recipe.Find("train");
  if (train == nullptr || train->Find("input") == nullptr) options.input = kFeaturesField;
  const std::vector<std::string> columns = ColumnsOfFeatures(*data);
  for (const std::string& target : options.AllTargets()) {
    if (std::ranges::find(columns, target) == columns.end()) continue;
    return InvalidArgument(
        "{}: data.features has '{}', which is {} target (train.target); take it out: columns that "
        "are not named stay in the sample",
        data->Find(kFeaturesKey)->location.ToString(), target,
        options.targets.empty() ? "the" : "a");
  }
  return OkStatus();
}

// The weights of samples must be neither a target nor a feature.
Status CheckSampleWeight(const ConfigNode& recipe, const TrainOptions& options) {
  const std::string weight = options.WeightField();
  if (weight.empty()) return OkStatus();
  const std::string place = recipe.Find("train")->Find("sample_weight")->location.ToString();
  const std::vector<std::string> targets = options.AllTargets();
  if (std::ranges::find(targets, weight) != targets.end()) {
    return InvalidArgument(
        "{}: train.sample_weight is '{}', which is {} target; name the field that holds weights",
        place, weight, targets.size() > 1 ? "a" : "the");
  }
  const ConfigNode* const data = recipe.Find("data");
  if (data == nullptr || !HasFeatures(*data)) return OkStatus();
  const std::vector<std::string> columns = ColumnsOfFeatures(*data);
  if (std::ranges::find(columns, weight) == columns.end()) return OkStatus();
  return InvalidArgument(
      "{}: train.sample_weight is '{}', of which data.features ({}) makes a feature; take it out "
      "there: columns that are not named stay in the sample",
      place, weight, data->Find(kFeaturesKey)->location.ToString());
}

CheckedTrain ReadTrainSection(const ConfigNode& recipe) {
  CheckedTrain checked;
  const ConfigNode* written = recipe.Find("train");
  if (written == nullptr || written->kind == ConfigNode::Kind::kNull) {
    checked.can_be_tried = true;
    checked.status = SuitFeatures(recipe, checked.train.options);
    return checked;
  }
  if (written->kind != ConfigNode::Kind::kMap) {
    checked.status =
        InvalidArgument("{}: 'train' is {}; it must be a map, such as train: {{epochs: 3}}",
                        written->location.ToString(), written->KindName());
    for (const Option& option : OptionsOf<TrainOptions>()) checked.unread.insert(option.name);
    return checked;
  }
  Problems problems;
  ConfigNode section = *written;
  problems.Add(CheckTrainKeys(section, checked.unread));
  const Status input = TakeInputs(section, checked.train.options.inputs);
  problems.Add(input);
  Status target = TakeTargets(section, checked.train.targets);
  if (target.ok()) target = TakeTarget(section, checked.train.target);
  problems.Add(target);
  for (const TargetRecipe& each : checked.train.targets)
    checked.train.options.targets.push_back(each.field);
  AddUnreadKeys(section, checked.unread);
  if (!input.ok()) checked.unread.emplace("input");
  if (!target.ok()) checked.unread.emplace("target");
  const Status step = ParseStep(section, checked.train);
  problems.Add(step);
  problems.Add(SuitFeatures(recipe, checked.train.options));
  const Status weight = target.ok() ? CheckSampleWeight(recipe, checked.train.options) : OkStatus();
  problems.Add(weight);
  problems.Add(ParseRest(section, checked.train));
  ReadMetrics metrics;
  problems.Add(ParseMetrics(section, checked.train.metrics, metrics));
  // A list of metrics that cannot be read may have named the figures that are followed.
  if (!metrics.is_list) checked.unread.emplace("metrics");
  const bool of_several = NamesSeveralTargets(*written);
  if (checked.Reads("metrics") && (!of_several || target.ok())) {
    const auto figures = of_several ? checked.train.Figures() : metrics.measured;
    problems.Add(WithPlace(recipe, TakeOutWrongParts(checked.train, figures)));
  }
  checked.can_be_tried =
      step.ok() && checked.Reads("input") && checked.Reads("target") && weight.ok();
  checked.status = problems.ToStatus();
  checked.train.written = *written;
  return checked;
}

// A path in the recipe is relative to the recipe, one given on the command line to the working
// directory.
//   node  where it stands
Status ResolvePath(const ConfigNode& node, const std::filesystem::path& folder, std::string& path) {
  if (path.empty() || IsRemotePath(path)) return OkStatus();
  const bool from_command_line = node.location.line == 0;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(
      from_command_line ? std::filesystem::path(path) : folder / path, error);
  if (error) return FailedPrecondition("{}: {}; name it in full", path, error.message());
  path = absolute.lexically_normal().string();
  return OkStatus();
}

Status ResolveInitFrom(const ConfigNode& root, const std::filesystem::path& folder,
                       InitFromOptions& options) {
  if (!options.any()) return OkStatus();
  const ConfigNode& section = *root.Find("train")->Find("init_from");
  const ConfigNode* const weights = section.Find("weights");
  STOKER_RETURN_IF_ERROR(ResolvePath(weights ? *weights : section, folder, options.weights));
  std::vector<VectorsOptions> vectors = options.vectors.fields();
  for (VectorsOptions& each : vectors) {
    const ConfigNode& given = *section.Find("vectors")->Find(each.name);
    const ConfigNode* const file = given.Find("file");
    STOKER_RETURN_IF_ERROR(ResolvePath(file ? *file : given, folder, each.file));
  }
  options.vectors = FieldMap<VectorsOptions>(std::move(vectors));
  return OkStatus();
}

}  // namespace

Result<TrainRecipe> ParseTrainSection(const ConfigNode& recipe) {
  CheckedTrain checked = ReadTrainSection(recipe);
  STOKER_RETURN_IF_ERROR(checked.status);
  return std::move(checked.train);
}

CheckedTrain CheckTrainSection(const ConfigNode& recipe,
                               const std::filesystem::path& recipe_folder) {
  CheckedTrain checked = ReadTrainSection(recipe);
  Problems problems;
  problems.Add(checked.status);
  problems.Add(ResolveInitFrom(recipe, recipe_folder, checked.train.init_from));
  InitFromOptions written;
  const ConfigNode* const section = recipe.Find("train");
  if (section != nullptr) static_cast<void>(ParsePart(*section, written));
  // Where its rules are wrong the part was taken out; that its file is missing is said all the
  // same.
  if (!written.weights.empty() && checked.train.init_from.weights.empty()) {
    const Status resolved = ResolveInitFrom(recipe, recipe_folder, written);
    problems.Add(resolved.ok() ? TryWeightsFile(written) : resolved);
  }
  checked.status = problems.ToStatus();
  return checked;
}

Result<Recipe> ParseRecipeAround(const ConfigNode& root, const std::filesystem::path& folder,
                                 TrainRecipe train) {
  STOKER_ASSIGN_OR_RETURN(ModelRegistry::Configured model, ParseModelSection(root));
  STOKER_RETURN_IF_ERROR(WishFor(train.memory));
  STOKER_ASSIGN_OR_RETURN(DataRecipe data, ParseDataSection(root, folder, RequestsOf(train)));
  STOKER_RETURN_IF_ERROR(NameClasses(root, data, model, train));
  STOKER_RETURN_IF_ERROR(FillInLearned(data.learned.get(), train));
  STOKER_RETURN_IF_ERROR(CheckBalancedWeights(data, model, train));
  return Recipe{.data = std::move(data), .model = std::move(model), .train = std::move(train)};
}

Result<Recipe> ParseRecipe(const ConfigNode& root, const std::filesystem::path& folder) {
  STOKER_RETURN_IF_ERROR(CheckSections(root));
  Problems problems;
  TrainRecipe train;
  problems.Add(ParseModelSection(root).status());
  problems.Take(ParseTrainSection(root), train);
  // Files are opened only for sections that are right.
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  STOKER_RETURN_IF_ERROR(ResolveInitFrom(root, folder, train.init_from));
  return ParseRecipeAround(root, folder, std::move(train));
}

Result<Recipe> LoadRecipe(const std::filesystem::path& file,
                          const std::vector<std::string>& assignments, int64_t ranks) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode root, ReadRecipeAndPlugins(file, assignments));
  STOKER_RETURN_IF_ERROR(TakeBatchPerRank(root, ranks));
  return ParseRecipe(root, file.parent_path());
}

}  // namespace stoker
