// The `data:` section of a recipe.
//
//   data:
//     root: fashion-mnist              # paths below are relative to it, it to the recipe
//     train: [...]                     # a pipeline: a list of operators
//     eval: [...]                      # optional
//     classes: [T-shirt, Trouser]      # optional: what the labels 0, 1, ... are called; without it
//                                      # they have the names that the source gives (`folder`), or
//                                      # the words that `lookup` numbered
//     remote: {cache: /scratch}        # optional: how files on servers are read (docs/remote.md);
//                                      # in force for the whole process once the section is read
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/registry.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

struct DataRecipe {
  std::filesystem::path root;
  Dataset train;
  std::optional<Dataset> eval;
  std::vector<std::string> classes;
  ConfigNode filled;  // the section with every option filled in
  // What `filled` tells of: another `train` or `eval` was put there by a program.
  std::shared_ptr<const DatasetNode> parsed_train, parsed_eval = nullptr;
};

// The keys of the section, for `stoker inspect --ops data`.
KindDescription DescribeDataSection();

// The sections that a recipe may have: data, model, train. An unknown one is an error with line,
// column and the nearest known name.
Status CheckSections(const ConfigNode& recipe);

// Changes a recipe as `--set key=value ...` asks (SetByPath), up to the first error.
Status ApplyAssignments(ConfigNode& recipe, const std::vector<std::string>& assignments);

// The recipe in `file` with `assignments` applied and its sections' names checked. What the
// sections hold is not checked yet.
Result<ConfigNode> ReadRecipe(const std::filesystem::path& file,
                              const std::vector<std::string>& assignments);

// Reads the section `data` of `recipe`. A relative root that stands in the recipe is taken relative
// to `recipe_folder`, one from --set to the working directory; in `filled` it is absolute.
Result<DataRecipe> ParseDataSection(const ConfigNode& recipe,
                                    const std::filesystem::path& recipe_folder);

// The pipeline `data.eval` alone, for which the files of `data.train` need not exist. Errors: also
// kFailedPrecondition if the recipe has none.
Result<Dataset> ParseEvalPipeline(const ConfigNode& recipe,
                                  const std::filesystem::path& recipe_folder);

// The recipe's eval pipeline with its source replaced by `source`, whose Spec must serve the
// operators, and without take, skip, ignore_errors and lookup, for new samples have no labels: what
// `predict` puts them through.
// Answer i must be that of sample i, so an operator that reorders, leaves out, repeats or randomly
// alters samples is an error that names it with its line. Fails also where the recipe has no eval
// pipeline.
Result<Dataset> BuildEvalPipelineOn(const ConfigNode& recipe, Dataset source);

// Whether that pipeline begins with files and decodes this field itself.
bool EvalPipelineDecodes(const ConfigNode& recipe, std::string_view field);

}  // namespace stoker
