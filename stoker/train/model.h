// Model: what a recipe's `model:` builds. A torch module that turns a batch of inputs into one row
// of scores a sample.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <vector>

#include "stoker/train/named_tensor.h"

namespace stoker {

// Scores of a further head, from layers below the last, whose loss helps these to learn.
struct AuxiliaryScores {
  at::Tensor scores;  // as Model::Forward returns them
  double weight = 0;  // of its loss beside the model's own
};

// What a step learns from.
struct TrainingScores {
  at::Tensor scores;
  std::vector<AuxiliaryScores> auxiliary;  // most models have none
};

// A model of your own derives from this, registers its modules with torch's register_module, and
// gets a small options struct beside it (see models/mlp.h) to be named in recipes.
class Model : public torch::nn::Module {
 public:
  // input: float, [samples, channels, height, width], contiguous or channels-last.
  // Returns scores before softmax: float, [samples, classes].
  virtual at::Tensor Forward(const at::Tensor& input) = 0;

  // The same with the scores of the auxiliary heads. Called in training mode only; evaluation and
  // prediction call Forward, which computes none of them.
  virtual TrainingScores ForwardToTrain(const at::Tensor& input) { return {Forward(input), {}}; }
};

// All parameters and buffers, by their dotted names in the order of registration, sharing memory:
// what torch calls the state dict.
NamedTensors StateOf(const Model& model);

// The parameters alone: what an optimizer moves.
NamedTensors ParametersOf(const Model& model);

int64_t CountParameters(const Model& model);

}  // namespace stoker
