// Model: built by a recipe's `model:`. A torch module that maps a batch of samples to one row of
// scores each.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/device/inputs.h"
#include "stoker/train/core/activation_checkpoint.h"
#include "stoker/train/core/known_tokens.h"
#include "stoker/train/core/named_tensor.h"

namespace stoker {

struct ModelInput;  // run/registry.h

// Scores of an auxiliary head on earlier layers, whose loss helps these to learn.
struct AuxiliaryScores {
  at::Tensor scores;  // as Model::Forward returns them
  double weight = 0;  // of its loss, relative to the model's own
};

// The scores that a step trains on.
struct TrainingScores {
  at::Tensor scores;
  std::vector<AuxiliaryScores> auxiliary;  // most models have none
};

// Your own model derives from this and registers its modules with torch's register_module; a small
// options struct beside it (see models/mlp.h) gives it a name in recipes. To support
// train.activation_checkpointing it registers its blocks (AddBlock) and runs them by RunBlock. With
// batch norm or dropout it calls those of layers.h, so that several ranks train as one process. One
// of several inputs derives from ModelOfInputs.
class Model : public torch::nn::Module {
 public:
  // input: float, [samples, channels, height, width], contiguous or channels-last; of a model of
  // sequences of tokens (kTakesTokens, run/registry.h) int64, [samples, length], and of numbers
  // (kTakesSteps) [samples, length, numbers] or [samples, length].
  // Returns scores before softmax: float, [samples, classes].
  virtual at::Tensor Forward(const at::Tensor& input) = 0;

  // Returns the same with the scores of the auxiliary heads. Called in training mode only;
  // evaluation and prediction call Forward.
  virtual TrainingScores ForwardToTrain(const at::Tensor& input) { return {Forward(input), {}}; }

  // Do the same with all inputs, in the order of ModelInput::parts. The trainer calls these; a
  // model of one input leaves them as they are. Ragged tokens are padded for it; one that takes
  // ragged steps of numbers overrides both.
  virtual at::Tensor ForwardAll(const Inputs& inputs) { return Forward(PaddedTokens(inputs)); }
  virtual TrainingScores ForwardAllToTrain(const Inputs& inputs) {
    return ForwardToTrain(PaddedTokens(inputs));
  }

  // Returns whether it reads each sample from step to step, so that messages call it a sequence.
  virtual bool ReadsSequences() const { return Tokens().has_value(); }

  // Returns whether the model takes ragged inputs: as they are, or padded as above.
  virtual bool TakesRagged() const { return true; }

  // Returns the tokens that a model of sequences knows: then another one is refused with its
  // sample's name, before it reaches a kernel, and so is a pipeline that pads with another number.
  virtual std::optional<KnownTokens> Tokens() const { return std::nullopt; }
  // Returns the same for each input, in their order.
  virtual TokensByInput TokensOfAll() const { return {Tokens()}; }

  // Returns the tables that have a vector for each category of a feature or for each token,
  // [number, width], by the feature's name, or an empty name for the tokens, of several inputs that
  // of the input: train.init_from.vectors fills them.
  virtual NamedTensors VectorTables() const { return {}; }

  // Returns whether each forward pass makes the same launches for batches of one shape, without
  // draws or decisions of the host: then train.graph: auto may record one and launch it again. Not
  // called with train.graph: on.
  virtual bool LaunchesAlike() const { return false; }

  // Returns whether a pass in training draws by Dropout (layers.h): then the ranks of a run tell
  // each other which rows are theirs.
  virtual bool DropsOut() const { return false; }

  // Makes the blocks whose names match one of `patterns` (MatchesPattern) keep only their input for
  // the backward pass (activation_checkpoint.h), and all others keep everything. Call it again
  // after parameters were replaced, not after they were moved. Errors: kInvalidArgument for a
  // pattern that matches no block, with some existing names.
  Status CheckpointActivations(const std::vector<std::string>& patterns);

 protected:
  // Registers a part of the model that RunBlock runs; returns its number.
  //   name     the prefix of its parameters: "layer1.0"
  //   modules  all modules that it uses, which are registered too
  size_t AddBlock(std::string name, std::vector<std::shared_ptr<torch::nn::Module>> modules);

  // Returns body(input), run as the recipe asks for block number `block`.
  //   body  maps one tensor, which it does not change, to another; uses the block's modules and
  //         nothing else that has gradients or that it changes. Copied if the block is run again.
  template <typename Body>
  at::Tensor RunBlock(size_t block, const at::Tensor& input, Body&& body) const {
    const Block& run = blocks_[block];
    if (!run.checkpointed || !is_training() || !at::GradMode::is_enabled()) return body(input);
    return RunCheckpointed({body, run.parameters, run.buffers}, input);
  }

 private:
  // The only input, [samples, ...].
  at::Tensor PaddedTokens(const Inputs& inputs) const;

  struct Block {
    std::string name;
    std::vector<std::shared_ptr<torch::nn::Module>> modules;
    bool checkpointed = false;
    std::vector<at::Tensor> parameters, buffers;  // of a checkpointed one
  };
  std::vector<Block> blocks_;
};

// Returns what messages call a sample of such a model: "sequence" where it reads steps, else as
// NounOf of run/sample_noun.h.
std::string NounOf(const Model& model, const ModelInput& input);

// A model of several inputs. Its struct says so: `static constexpr bool kTakesInputs = true`
// (run/registry.h).
class ModelOfInputs : public Model {
 public:
  at::Tensor ForwardAll(const Inputs& inputs) override = 0;
  TrainingScores ForwardAllToTrain(const Inputs& inputs) override {
    return {ForwardAll(inputs), {}};
  }
  TokensByInput TokensOfAll() const override { return {}; }
  // One that looks at Inputs::offsets says true.
  bool TakesRagged() const override { return false; }

  at::Tensor Forward(const at::Tensor& input) final { return ForwardAll(input); }
  TrainingScores ForwardToTrain(const at::Tensor& input) final { return ForwardAllToTrain(input); }
};

// Returns all parameters and buffers, by their dotted names in the order of registration, sharing
// memory: torch's state dict.
NamedTensors StateOf(const Model& model);

// Returns only the parameters, which an optimizer updates.
NamedTensors ParametersOf(const Model& model);

int64_t CountParameters(const Model& model);

}  // namespace stoker
