// The eval pipeline of a recipe whose samples bring along which ones they are: a batch knows its
// own number only, and who writes an answer for each sample must say which sample it is for, also
// where the pipeline reorders samples or leaves some out.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/sample_names.h"

namespace stoker {

struct NumberedPipeline {
  Dataset batches;
  // The field with each sample's number in its source, int64 [samples]. Empty if the pipeline
  // does not tell: its elements are made of several sources', or a stage behind the place of the
  // field draws at random and would draw otherwise with a stage more in front of it.
  std::string number;
  // What those numbers are called; null if samples have no files.
  std::shared_ptr<const SampleNames> names;
  // Why there are not all samples, each once and in their order: "shuffle reorders elements". Empty
  // where there are.
  std::vector<std::string> disturbances;
};

// What ParseEvalPipeline (recipe.h) gives, its fields with the same bytes, and the field that
// numbers the samples: 8 bytes for each, put in behind the last stage that draws or caches, else
// behind the source. Errors: those of ParseEvalPipeline; kInvalidArgument if it gives no
// batches.
Result<NumberedPipeline> ParseNumberedEvalPipeline(const ConfigNode& recipe,
                                                   const std::filesystem::path& recipe_folder);

}  // namespace stoker
