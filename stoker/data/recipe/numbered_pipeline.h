// The eval pipeline of a recipe with the numbers of its samples. A batch has only its own number,
// but predictions must name the sample of each answer, even if the pipeline reorders or drops
// samples.
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
  // The field with the key of each sample as a number (KeyOfNumber), int64 [samples]. Empty if
  // unknown: a stage after the field is added draws at random and would draw differently with an
  // additional earlier stage.
  std::string number;
  // Whether the key's index is the sample's number in its source: not where elements combine those
  // of several sources, or are drawn (balance, sample).
  bool numbers_source = false;
  // The names of those samples, by their keys; null if samples have no files.
  std::shared_ptr<const SampleNames> names;
  // Why the samples are not all there, each once and in order: "shuffle reorders elements". Empty
  // if they are.
  std::vector<std::string> disturbances;
};

// Returns the key of a sample with this number in the field NumberedPipeline::number.
SampleKey KeyOfNumber(int64_t number);

// Returns the pipeline of ParseEvalPipeline (recipe.h), with the same bytes, and the field that
// numbers the samples: 8 bytes each, added after the last stage that draws or caches, else after
// the source. Errors: those of ParseEvalPipeline; kInvalidArgument if it does not return batches.
Result<NumberedPipeline> ParseNumberedEvalPipeline(const ConfigNode& recipe,
                                                   const std::filesystem::path& recipe_folder);

}  // namespace stoker
