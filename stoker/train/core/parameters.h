// The parameters that an optimizer moves, each with its own share of the rate and of the decay.
//
//   train:
//     decay_vectors: false               # no weight decay for biases and the weights of norms
//     layer_rate: 0.8                    # each layer moves 0.8 times as fast as the one above it
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
  double lr_scale = 1;     // times the schedule's learning rate; 0: it stays where it is
  double decay_scale = 1;  // times the optimizer's weight decay
};

// The parameters of `model` with the shares that the recipe gives them. What several rules give is
// multiplied; a layer is the parameters of one module, the last of them is the topmost. Errors
// (kInvalidArgument): a group that matches no parameter, with some that there are.
Result<TrainedParameters> ParametersToTrain(const Model& model, const TrainRecipe& recipe);

// Whether `name` is as `pattern` says, in which * stands for any letters and ? for one.
bool MatchesPattern(std::string_view name, std::string_view pattern);

}  // namespace stoker
