#pragma once

#include <string>
#include <vector>

#include "stoker/device/inputs.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/objective.h"
#include "stoker/train/predict/predictor.h"

namespace stoker {

// What `model` says of a batch: a prediction for each sample, in CPU memory. The caller has set
// evaluation mode and precision.
//   objective  whose losses turn scores into classes and probabilities
//   form       of the targets that the weights were trained by, as weights keep it (FormOf)
//   inputs     the batch, on the model's device
Result<std::vector<Prediction>> PredictBatch(Model& model, const Objective& objective,
                                             const std::string& form, const Inputs& inputs);

}  // namespace stoker
