// What is wrong with a model before it is trained: mistakes that cost accuracy or time and raise no
// error. Each finding names the layer and what to do.
//
//   conv_bias        a convolution or linear layer with a bias in front of a batch norm, which
//                    takes it away again
//   batch_of_one     batch norm over a batch of one sample, whose statistics say nothing
//   inputs           inputs that are not about 0 with a deviation of about 1, by a real batch
//   softmax          scores that went through softmax or a sigmoid, which the loss does itself
//   no_gradient      parameters that the loss does not depend on
//   classes          a model that tells more classes apart than the data has names for
//   layout           pictures whose channels seem to stand last and are taken as standing first
//   no_rate          groups that leave every parameter where it is
//   order            data.train that nothing shuffles, a hint of `stoker lint` alone
//   tensor_cores     layers whose channels are no multiple of 8, which tensor cores want
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
  bool hint = false;  // of no consequence on the device at hand

  std::string ToText() const;  // "3: its bias ...; make it without"
};

// Puts some samples of `batch` through the model in training mode, which changes the running
// statistics of norms and torch's random state: give it a model of its own. No backward pass.
//   accelerator  whether the model will be trained on one
//   field        of the recipe that the inputs are, for the proposed fix
//   pipeline     the list that made the inputs, for what it did to them; may be null
// Errors: those of the model's Forward.
Result<std::vector<LintFinding>> LintModel(Model& model, const TensorBatch& batch, bool accelerator,
                                           std::string_view field = "image",
                                           const ConfigNode* pipeline = nullptr);

// The same with a model of the recipe's own and the first batch of its data.train; torch's random
// state stays.
//   first  that batch, on any device, where it has been read already
Result<std::vector<LintFinding>> LintRecipe(const Recipe& recipe, const c10::Device& device,
                                            std::optional<FirstBatch> first = std::nullopt);
// On the device that the recipe names.
Result<std::vector<LintFinding>> LintRecipe(const Recipe& recipe);

}  // namespace stoker
