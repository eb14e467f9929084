#include "stoker/data/recipe/recipe.h"

#include <algorithm>

#include "stoker/base/options.h"
#include "stoker/base/problems.h"
#include "stoker/base/remote_path.h"
#include "stoker/data/core/class_names.h"
#include "stoker/data/learn/requests.h"
#include "stoker/data/learn/training_requests.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/recipe/data_check.h"
#include "stoker/data/recipe/data_section.h"
#include "stoker/data/recipe/learned_section.h"
#include "stoker/data/recipe/recipe_text.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

// The sections of a recipe.
const std::vector<std::string>& Sections() {
  static const std::vector<std::string> kSections = {"data", "model", "train", "plugins"};
  return kSections;
}

// A class that one side lacks would shift the numbers of those after it.
Status CheckSameClasses(const ConfigNode& eval, const std::vector<std::string>& train,
                        const std::vector<std::string>& other) {
  if (train.empty() || other.empty() || train == other) return OkStatus();
  return InvalidArgument(
      "{}: data.eval has other classes than data.train: {}; give both the same folders "
      "(folder.allow_empty lets some be empty), files that were packed from such, or words",
      eval.location.ToString(), FirstDifferenceOfClasses(train, other));
}

// Names of the recipe stand for the classes of the data in their order. They may be others, as in
// another language, but not the same ones in another order.
Status CheckNamedClasses(const ConfigNode& data, const std::vector<std::string>& named,
                         const std::vector<std::string>& of_data) {
  const ConfigNode* const list = data.Find("classes");
  if (list == nullptr || named.empty() || of_data.empty() || named == of_data) return OkStatus();
  if (named.size() != of_data.size()) {
    return InvalidArgument(
        "{}: data.classes has {} names, but data.train has {} classes ('{}', ...); name each, in "
        "this order, or leave the key out",
        list->location.ToString(), named.size(), of_data.size(), of_data.front());
  }
  if (!std::ranges::is_permutation(named, of_data)) return OkStatus();
  return InvalidArgument(
      "{}: data.classes has the classes of data.train in another order: {}; leave the key out",
      list->location.ToString(), FirstDifferenceOfClasses(of_data, named));
}

// The names of the classes of the one target; of several none, which each has for itself.
std::vector<std::string> ClassNamesOf(const ConfigNode& recipe, const Dataset& train) {
  const std::vector<std::string> targets = TargetsOf(recipe);
  return targets.size() == 1 ? FindClassNames(train, targets.front()) : std::vector<std::string>();
}

// The section as far as it could be read.
struct SectionRead {
  DataOptions options;  // the root absolute
  std::optional<Dataset> train, eval;
  ConfigNode train_filled, eval_filled;
  std::shared_ptr<const Learned> learned;
  // False if a wrong key may be the one that says how files on servers are read.
  bool knows_servers = true;
  Problems problems;
};

// Whether paths mean what they are meant to, whatever else is wrong with the keys beside the root.
bool KnowsRoot(const ConfigNode& data, const Status& keys) {
  return keys.ok() ||
         (data.Find("root") != nullptr && data.Find("root")->kind == ConfigNode::Kind::kScalar);
}

// Whether a path below `node` names a file on a server.
bool NamesServers(const ConfigNode& node) {
  return IsRemotePath(node.scalar) || std::ranges::any_of(node.items, NamesServers) ||
         std::ranges::any_of(node.entries, [](const ConfigNode::Entry& entry) {
           return NamesServers(entry.value);
         });
}

// Where the section stands.
struct RecipePlace {
  const ConfigNode& recipe;
  const std::filesystem::path& folder;
  std::span<const TrainingRequest> requests;
};

// Builds one pipeline, after what its stages learn is known, and what else `learning` has entries
// for (WithTrainingRequests). One that reads from servers is left
// out where it is not known how `remote` would have them read: they would be asked at the usual
// address with the user's credentials.
void ReadPipeline(const ConfigNode& list, const ConfigNode& learning, const RecipePlace& place,
                  std::optional<Dataset>& built, ConfigNode& filled, SectionRead& read) {
  const std::filesystem::path& root = read.options.root;
  const bool remote = IsRemotePath(root.native()) || NamesServers(list);
  if (remote && !read.knows_servers) return;
  std::shared_ptr<const Learned> learned;
  const Result<ConfigNode> whole = [&]() -> Result<ConfigNode> {
    STOKER_ASSIGN_OR_RETURN(learned,
                            LearnedFor(place.recipe, learning, root, place.folder, place.requests));
    return FillInLearned(list, learned.get());
  }();
  read.problems.Add(whole.status());
  if (!whole.ok()) return;
  if (learned) read.learned = std::move(learned);
  read.problems.Take(BuildPipeline(*whole, root, &filled), built);
}

// The pipelines do not depend on each other: a mistake in one hides none in the other.
void ReadPipelines(const RecipePlace& place, SectionRead& read) {
  const ConfigNode& recipe = place.recipe;
  const ConfigNode& data = *recipe.Find("data");
  const Status shared = CheckShared(data);
  read.problems.Add(shared);
  if (!shared.ok()) return;
  if (const std::optional<ConfigNode> train = WholePipeline(data, "train")) {
    ReadPipeline(*train, WithTrainingRequests(place.requests, *train), place, read.train,
                 read.train_filled, read);
  } else {
    read.problems.Add(InvalidArgument(
        "{}: data: the pipeline 'train' is missing; it is a list such as [idx: {{...}}, shuffle, "
        "batch]",
        data.location.ToString()));
  }
  if (read.train) {
    read.problems.Add(
        CheckNamedClasses(data, read.options.classes, ClassNamesOf(recipe, *read.train)));
  }
  const std::optional<ConfigNode> eval = WholePipeline(data, "eval");
  if (!eval) return;
  ReadPipeline(*eval, *eval, place, read.eval, read.eval_filled, read);
  if (!read.train || !read.eval) return;
  for (const std::string& target : TargetsOf(recipe)) {
    const Status same = CheckSameClasses(*eval, FindClassNames(*read.train, target),
                                         FindClassNames(*read.eval, target));
    read.problems.Add(same);
    if (!same.ok()) return;
  }
}

SectionRead ReadSection(const RecipePlace& place) {
  const auto& [recipe, recipe_folder, requests] = place;
  SectionRead read;
  const Result<const ConfigNode*> data = DataSection(recipe);
  read.problems.Add(data.status());
  if (!data.ok()) return read;
  const Status keys = ReadDataOptions(**data, read.options);
  read.problems.Add(keys);
  read.knows_servers = keys.ok() || read.options.remote.given();
  read.options.root = AbsoluteRoot(**data, read.options.root, recipe_folder);
  if (KnowsRoot(**data, keys)) ReadPipelines(place, read);
  return read;
}

}  // namespace

KindDescription DescribeDataSection() {
  const DataOptions defaults;
  KindDescription section{.name = "data",
                          .help = "The keys of `data:`.",
                          .group = "section",
                          .options = OptionsOf<DataOptions>(),
                          .defaults = FormatOptions(OptionsOf<DataOptions>(), &defaults)};
  Option train{.name = "train",
               .type = "pipeline",
               .constraint = "",
               .help =
                   "a list of operators that begins with a source unless `source` is given: "
                   "what is trained on"};
  train.required = true;
  section.options.push_back(std::move(train));
  section.options.push_back({.name = "eval",
                             .type = "pipeline",
                             .constraint = "",
                             .help = "likewise, what the model is measured on; how `stoker "
                                     "predict` prepares samples"});
  section.options.push_back({.name = "source",
                             .type = "pipeline",
                             .constraint = "",
                             .help = "what train and eval both begin with: a source, and operators "
                                     "that both need"});
  section.options.push_back({.name = "split",
                             .type = "options",
                             .constraint = "",
                             .help = "which of the samples of `source` train and eval get: the "
                                     "options of the operator split but `side`, such as {eval: "
                                     "0.2, seed: 1}"});
  section.options.push_back({.name = "features",
                             .type = "map of features",
                             .constraint = "",
                             .help =
                                 "what each column of a table is to the model: {carat: numeric, "
                                 "cut: categorical}, see docs/features.md"});
  return section;
}

Status CheckSections(const ConfigNode& recipe) {
  if (recipe.kind != ConfigNode::Kind::kMap) {
    return InvalidArgument(
        "{}: a recipe is a map with the sections data, model and train; here is {}",
        recipe.location.ToString(), recipe.KindName());
  }
  return CheckKeys(recipe, "", "section", Sections());
}

namespace {

// "epochs=3" names no section; "train.epochs=3" is what is meant.
Status CheckHasSection(std::string_view assignment) {
  const std::string_view key = assignment.substr(0, assignment.find('='));
  const bool alone = key.size() < assignment.size() && key.find('.') == std::string_view::npos;
  if (key.empty() || !alone || !NearestName(key, Sections()).empty()) return OkStatus();
  const bool of_data = std::ranges::any_of(
      DescribeDataSection().options, [&](const Option& option) { return option.name == key; });
  return InvalidArgument(
      "--set {}: a key begins with its section, data, model or train; did you mean --set {}.{}?",
      assignment, of_data ? "data" : "train", assignment);
}

}  // namespace

Status ApplyAssignments(ConfigNode& recipe, const std::vector<std::string>& assignments) {
  Problems problems;
  for (const std::string& assignment : assignments) {
    Status status = CheckHasSection(assignment);
    problems.Add(status.ok() ? SetByPath(recipe, assignment) : std::move(status));
  }
  return problems.ToStatus();
}

Result<std::string> ReadRecipeText(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(file, error).type();
  const bool handed_on = file.native().starts_with("/dev/");  // by the shell: <(...), /dev/stdin
  if (type == std::filesystem::file_type::fifo && !handed_on) {
    return FailedPrecondition(
        "{}: a recipe is a file, and this is a named pipe, which may wait for ever; name a file",
        file.string());
  }
  return ReadTextFile(file.string());
}

Result<ConfigNode> ReadRecipe(const std::filesystem::path& file,
                              const std::vector<std::string>& assignments) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadRecipeText(file));
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ParseYaml(text, file.string()));
  STOKER_RETURN_IF_ERROR(ApplyAssignments(recipe, assignments));
  STOKER_RETURN_IF_ERROR(CheckSections(recipe));
  return recipe;
}

namespace {

// Later errors can then name the key's place.
void KeepPlaces(const ConfigNode& written, ConfigNode& filled) {
  filled.location = written.location;
  for (const ConfigNode::Entry& entry : written.entries) {
    const auto of = std::ranges::find(filled.entries, entry.key, &ConfigNode::Entry::key);
    if (of == filled.entries.end()) continue;
    of->key_location = entry.key_location;
    of->value.location = entry.value.location;
  }
}

}  // namespace

namespace {

// The section filled in, with `auto` as it was written.
ConfigNode WithRequests(const ConfigNode& data, const SectionRead& read, ConfigNode filled) {
  const auto of = [&](const char* name, const ConfigNode& pipeline) {
    const std::optional<ConfigNode> list = WholePipeline(data, name);
    return list ? PutBackRequests(*list, pipeline) : pipeline;
  };
  AddFilledPipelines(data, of("train", read.train_filled), of("eval", read.eval_filled), filled);
  KeepPlaces(data, filled);
  return filled;
}

}  // namespace

Result<DataRecipe> ParseDataSection(const ConfigNode& recipe,
                                    const std::filesystem::path& recipe_folder,
                                    std::span<const TrainingRequest> requests) {
  SectionRead read = ReadSection({recipe, recipe_folder, requests});
  STOKER_RETURN_IF_ERROR(read.problems.ToStatus());
  DataOptions& options = read.options;
  if (options.classes.empty()) options.classes = ClassNamesOf(recipe, *read.train);
  // Absolute, so that the filled recipe means the same wherever it is stored.
  ConfigNode filled = FormatOptions(OptionsOf<DataOptions>(), &options);
  // Most recipes read nothing remote. What was learned is kept beside the section.
  std::erase_if(filled.entries, [&](const ConfigNode::Entry& entry) {
    return entry.key == "learned" || (entry.key == "remote" && !options.remote.given());
  });
  const ConfigNode& data = *recipe.Find("data");
  ConfigNode unlearned;
  if (read.learned) unlearned = WithRequests(data, read, filled);
  AddFilledPipelines(data, std::move(read.train_filled), std::move(read.eval_filled), filled);
  KeepPlaces(data, filled);
  auto train = read.train->shared_node();
  auto eval = read.eval ? read.eval->shared_node() : nullptr;
  return DataRecipe{.root = options.root,
                    .train = *std::move(read.train),
                    .eval = std::move(read.eval),
                    .classes = std::move(options.classes),
                    .filled = std::move(filled),
                    .unlearned = std::move(unlearned),
                    .learned = std::move(read.learned),
                    .parsed_train = std::move(train),
                    .parsed_eval = std::move(eval)};
}

CheckedData CheckDataSection(const ConfigNode& recipe, const std::filesystem::path& recipe_folder,
                             std::span<const TrainingRequest> requests) {
  SectionRead read = ReadSection({recipe, recipe_folder, requests});
  return {std::move(read.train), std::move(read.eval), read.problems.ToStatus()};
}

}  // namespace stoker
