// A model of your own: `model: {own_net: {classes: 2}}`.
#pragma once

#include <torch/nn/modules/linear.h>

#include "stoker/run/registry.h"
#include "stoker/train/core/model.h"

namespace own {

// One hidden layer over all pixels.
class OwnNetModel final : public stoker::Model {
 public:
  OwnNetModel(int64_t width, int64_t classes, const stoker::ModelInput& input)
      : hidden_(input.num_values(), width), head_(width, classes) {
    register_module("hidden", hidden_);
    register_module("head", head_);
  }
  at::Tensor Forward(const at::Tensor& input) override {
    return head_(hidden_(input.flatten(1)).relu_());
  }

 private:
  torch::nn::Linear hidden_, head_;
};

struct OwnNet {
  static constexpr std::string_view kName = "own_net";
  static constexpr std::string_view kHelp = "One hidden layer over all pixels.";
  int64_t width = 16;
  int64_t classes = 10;

  static void Describe(stoker::OptionTable<OwnNet>& table) {
    table.Field("width", &OwnNet::width, "of the hidden layer", stoker::AtLeast(1))
        .Field("classes", &OwnNet::classes, "scores a sample", stoker::AtLeast(2));
  }
  stoker::Result<std::shared_ptr<stoker::Model>> Build(const stoker::ModelInput& input) const {
    return std::make_shared<OwnNetModel>(width, classes, input);
  }
};

}  // namespace own
