// Finds mistakes in a model before training that cost accuracy or time and raise no error. Each
// finding names the layer and the fix.
//
//   conv_bias        a convolution or linear layer with a bias before a batch norm, which cancels
//                    it
//   batch_of_one     batch norm over a batch of one sample, whose statistics are meaningless
//   inputs           inputs whose mean is not about 0 or deviation not about 1, in a real batch
//   softmax          scores after softmax or a sigmoid, which the loss applies itself
//   no_gradient      parameters that the loss does not depend on
//   classes          a model with more classes than the data has names
//   layout           pictures whose channels seem to be last but are read as first
//   no_rate          groups that freeze every parameter
//   order            data.train without a shuffle; only a hint of `stoker lint`
//   tensor_cores     layers whose channels are not a multiple of 8, as tensor cores need
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/train/plan/first_batch.h"

namespace stoker {

class Model;

struct LintFinding {
  std::string rule;   // as above
  std::string where;  // a layer, or "inputs", "scores"
  std::string problem;
  std::string advice;
  bool hint = false;  // irrelevant on the current device

  std::string ToText() const;  // "3: its bias ...; make it without"
};

// Runs some samples of `batch` through the model in training mode, which changes the running
// statistics of norms and torch's random state: pass a separate model. No backward pass.
//   accelerator  whether the model will be trained on one
//   fields       of the inputs in the recipe, for the proposed fix; those left out are called
//   `image` pipeline     the list of operators that made the inputs; may be null sample       what
//   the inputs hold, where it is known
// Errors: those of the model's Forward.
Result<std::vector<LintFinding>> LintModel(Model& model, const TensorBatch& batch, bool accelerator,
                                           const std::vector<InputField>& fields = {},
                                           const ConfigNode* pipeline = nullptr,
                                           const ModelInput& sample = {});

// Does the same with a new model of the recipe and the first batch of its data.train; keeps torch's
// random state.
//   first  that batch, on any device, if already read
Result<std::vector<LintFinding>> LintRecipe(const Recipe& recipe, const c10::Device& device,
                                            std::optional<FirstBatch> first = std::nullopt);
// Does the same on the device that the recipe names.
Result<std::vector<LintFinding>> LintRecipe(const Recipe& recipe);

}  // namespace stoker
