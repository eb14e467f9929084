// The `data:` section of a recipe.
//
//   data:
//     root: fashion-mnist              # paths below are relative to it; it is itself relative to
//                                      # the recipe
//     train: [...]                     # a pipeline: a list of operators
//     eval: [...]                      # optional
//     source: [csv: a.csv]             # optional: what both pipelines begin with
//     split: {eval: 0.2}               # optional: which samples each gets (ops/split.h)
//     features: {carat: numeric}       # optional: columns as inputs (options/feature_columns.h)
//     classes: [T-shirt, Trouser]      # optional: the names of the labels 0, 1, ...; without it
//                                      # those of the source (`folder`), or of `lookup`
//     learned: RUN/learned.json        # optional: what stages with `auto` have learned; else it is
//                                      # learned when the section is read (data/learn)
//     remote: {cache: /scratch}        # optional: how files on servers are read (docs/remote.md);
//                                      # in force for the whole process once the section is read
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/registry.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/learn/learned.h"
#include "stoker/data/learn/training_requests.h"

namespace stoker {

struct DataRecipe {
  std::filesystem::path root;
  Dataset train;
  std::optional<Dataset> eval;
  std::vector<std::string> classes;
  ConfigNode filled;  // the section, every option filled in, learned ones too
  // The same with `auto` where values were learned, and what was learned; nothing and null where no
  // stage learns.
  ConfigNode unlearned = {};
  std::shared_ptr<const Learned> learned = nullptr;
  // The pipelines that `filled` describes; a program may have replaced `train` or `eval`.
  std::shared_ptr<const DatasetNode> parsed_train, parsed_eval = nullptr;
};

// Returns the keys of the section, for `stoker inspect --ops data`.
KindDescription DescribeDataSection();

// The sections that a recipe may have: data, model, train, plugins. An unknown one is an error with
// line, column and the nearest known name.
Status CheckSections(const ConfigNode& recipe);

// Applies `--set key=value ...` to a recipe (SetByPath), up to the first error.
Status ApplyAssignments(ConfigNode& recipe, const std::vector<std::string>& assignments);

// Reads the recipe in `file`, applies `assignments` and checks the names of its sections, but not
// their content. Loads no plug-ins (plugins.h).
Result<ConfigNode> ReadRecipe(const std::filesystem::path& file,
                              const std::vector<std::string>& assignments);

// Reads the section `data` of `recipe`, which reads the training side once if a stage learns from
// it. A relative root in the recipe starts at `recipe_folder`, one from --set at the working
// directory; in `filled` it is absolute.
//   requests  what is learned beside, for the section `train` (run/learned_train.h)
Result<DataRecipe> ParseDataSection(const ConfigNode& recipe,
                                    const std::filesystem::path& recipe_folder,
                                    std::span<const TrainingRequest> requests = {});

// Makes the pipeline `data.eval` only; the files of `data.train` need not exist, unless a stage
// learns from them and there is no `data.learned`. Errors: also
// kFailedPrecondition if the recipe has none.
Result<Dataset> ParseEvalPipeline(const ConfigNode& recipe,
                                  const std::filesystem::path& recipe_folder);

// Makes the recipe's eval pipeline for `predict`: with its source replaced by `source`, whose Spec
// must suit the operators, and without take, skip, ignore_errors and lookup, because new samples
// have no labels. Answer i must belong to sample i, so an operator that reorders, drops, repeats or
// randomly alters samples is an error that names it with its line. Also fails if the recipe has no
// eval pipeline.
// Stages with `auto` take their values from the file `data.learned`, an absolute path.
Result<Dataset> BuildEvalPipelineOn(const ConfigNode& recipe, Dataset source);

// Returns whether that pipeline begins with files and decodes this field itself.
bool EvalPipelineDecodes(const ConfigNode& recipe, std::string_view field);

// Returns whether a stage of that pipeline makes this field of others (`to`).
bool EvalPipelineMakes(const ConfigNode& recipe, std::string_view field);

}  // namespace stoker
