// Model: what a recipe's `model:` builds. A torch module that turns a batch of inputs into one row
// of scores a sample.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/train/core/activation_checkpoint.h"
#include "stoker/train/core/named_tensor.h"

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
// gets a small options struct beside it (see models/mlp.h) to be named in recipes. Where it wants
// train.activation_checkpointing to work it tells its blocks (AddBlock) and runs them by RunBlock.
class Model : public torch::nn::Module {
 public:
  // input: float, [samples, channels, height, width], contiguous or channels-last.
  // Returns scores before softmax: float, [samples, classes].
  virtual at::Tensor Forward(const at::Tensor& input) = 0;

  // The same with the scores of the auxiliary heads. Called in training mode only; evaluation and
  // prediction call Forward, which computes none of them.
  virtual TrainingScores ForwardToTrain(const at::Tensor& input) { return {Forward(input), {}}; }

  // Whether each forward pass makes the same launches for batches of one shape, with nothing that
  // the host draws or decides anew: then train.graph: auto may record one and launch it again. Not
  // asked where the recipe says train.graph: on.
  virtual bool LaunchesAlike() const { return false; }

  // From now on the blocks whose names match one of `patterns` (MatchesPattern) keep nothing but
  // their input for the backward pass (activation_checkpoint.h); all others keep everything. To be
  // called again where parameters were replaced, not where they were moved. Errors:
  // kInvalidArgument for a pattern that matches no block, with some that there are.
  Status CheckpointActivations(const std::vector<std::string>& patterns);

 protected:
  // Tells of a part of the model that RunBlock runs; gives its number.
  //   name     as its parameters begin: "layer1.0"
  //   modules  all that it uses, which are registered too
  size_t AddBlock(std::string name, std::vector<std::shared_ptr<torch::nn::Module>> modules);

  // body(input), as the recipe wants block number `block` to be run.
  //   body  one tensor from one, which it leaves as it is; uses the block's modules and nothing
  //         else that has gradients or that it changes. Copied where the block is run again.
  template <typename Body>
  at::Tensor RunBlock(size_t block, const at::Tensor& input, Body&& body) const {
    const Block& run = blocks_[block];
    if (!run.checkpointed || !is_training() || !at::GradMode::is_enabled()) return body(input);
    return RunCheckpointed({body, run.parameters, run.buffers}, input);
  }

 private:
  struct Block {
    std::string name;
    std::vector<std::shared_ptr<torch::nn::Module>> modules;
    bool checkpointed = false;
    std::vector<at::Tensor> parameters, buffers;  // of a checkpointed one
  };
  std::vector<Block> blocks_;
};

// All parameters and buffers, by their dotted names in the order of registration, sharing memory:
// what torch calls the state dict.
NamedTensors StateOf(const Model& model);

// The parameters alone: what an optimizer moves.
NamedTensors ParametersOf(const Model& model);

int64_t CountParameters(const Model& model);

}  // namespace stoker
