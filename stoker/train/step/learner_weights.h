// The weights of a model as they are used: weights.safetensors of a run, and of an export.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/run/weights_file.h"
#include "stoker/train/step/learner.h"

namespace stoker {

// Writes the weights to evaluate, which are the average where the learner keeps one.
//   origin  what they were trained on, without arrays
// Errors: those of WriteWeights.
Status WriteWeightsOf(Learner& learner, const std::string& path, Weights origin);

}  // namespace stoker
