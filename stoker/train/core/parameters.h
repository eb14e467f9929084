// The parameters that an optimizer updates, each with its own factor of the rate and of the decay.
//
//   train:
//     decay_vectors: false               # no weight decay for biases and the weights of norms
//     layer_rate: 0.8                    # each layer has 0.8 times the rate of the next one
//     groups:                            # the first that matches a parameter's name counts
//       - {match: "stem.*", lr: 0.1}
//       - {match: "*.bias", lr: 2, weight_decay: 0}
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "stoker/base/status.h"
#include "stoker/run/optimizer.h"
#include "stoker/run/recipe.h"

namespace stoker {

class Model;

struct TrainedParameter {
  std::string name;
  at::Tensor tensor;
  double lr_scale = 1;     // times the schedule's learning rate; 0: frozen
  double decay_scale = 1;  // times the optimizer's weight decay
};

// Returns the parameters of `model` with the recipe's factors. Factors of several rules are
// multiplied; a layer is the parameters of one module, the last module is the topmost. Errors
// (kInvalidArgument): a group that matches no parameter, with some existing names.
Result<TrainedParameters> ParametersToTrain(const Model& model, const TrainRecipe& recipe);

// Returns whether `name` matches `pattern`, in which * matches any letters and ? one.
bool MatchesPattern(std::string_view name, std::string_view pattern);

}  // namespace stoker
