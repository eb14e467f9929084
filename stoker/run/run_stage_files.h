// The files that a run's stages were made from, such as vocabularies.
#pragma once

#include <filesystem>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns kFailedPrecondition if a stage of `dataset` was made from another file than the run's
// stages of that kind when it last trained: the model would take one word for another. A run that
// has no marks of them (data.json) passes.
//   recipe   the run's, for data.root
//   dataset  that the run's model is to predict
// Errors: those of ReadRunData and MarkStageFiles.
Status CheckStageFiles(const std::filesystem::path& run, const ConfigNode& recipe,
                       const Dataset& dataset);

}  // namespace stoker
