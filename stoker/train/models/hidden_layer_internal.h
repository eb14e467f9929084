// HiddenLayer: a layer before the last of a model of rows, such as mlp.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/options.h"

namespace stoker::internal {

// What all hidden layers of a model have in common: options of the model.
struct HiddenOptions {
  std::string activation = "relu";  // one of Activations()
  bool batch_norm = false;
  double dropout = 0;
};

// The functions that `activation` may name: torch's of the same names, with torch's defaults.
OneOf Activations();

// Linear, a batch norm if it is asked for, the activation, dropout. A linear layer that a norm
// follows has no bias, since the norm has one. The model registers the modules; a copy of the layer
// shares them.
class HiddenLayer {
 public:
  // REQUIRES: options.activation is one of Activations().
  HiddenLayer(int64_t in, int64_t out, const HiddenOptions& options);

  // Returns [rows, out] for [rows, in]. Trains, or does not, as its modules do. Throws c10::Error
  // for a single row if a norm trains on it.
  at::Tensor operator()(const at::Tensor& x);

  const torch::nn::Linear& linear() const { return linear_; }
  // Empty if there is none.
  const torch::nn::BatchNorm1d& norm() const { return norm_; }
  // Returns the linear layer, and the norm if there is one.
  std::vector<std::shared_ptr<torch::nn::Module>> modules() const;

 private:
  torch::nn::Linear linear_;
  torch::nn::BatchNorm1d norm_;
  at::Tensor (*activation_)(const at::Tensor&);
  double dropout_;
};

}  // namespace stoker::internal
