#include "stoker/train/model_trial.h"

#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include "stoker/device/torch_error.h"
#include "stoker/train/learner.h"
#include "stoker/train/loss.h"

namespace stoker {
namespace {

constexpr int64_t kSamples = 2;  // batch norm needs more than one

std::vector<int64_t> ShapeOf(const Field& input, bool channels_last) {
  std::vector<int64_t> shape(input.shape.begin(), input.shape.end());
  shape[0] = kSamples;
  if (channels_last && shape.size() == 4) return {shape[0], shape[3], shape[1], shape[2]};
  return shape;
}

// "the model convnet (recipe.yaml:12:8)"
template <typename Configured>
std::string NameOf(std::string_view noun, const Configured& configured) {
  return fmt::format("the {} {} ({})", noun, configured.name, configured.location.ToString());
}

}  // namespace

Status TryModel(const Recipe& recipe, Model& model, const Field& field, bool channels_last) {
  at::Tensor input, scores;
  Status status = CatchTorchErrors([&] {
    input = at::zeros(ShapeOf(field, channels_last));
    scores = model.ForwardToTrain(input).scores;
  });
  if (!status.ok()) {
    return ExplainForward(status, model, input)
        .While(fmt::format("trying {} on samples of {}", NameOf("model", recipe.model),
                           field.ToString()));
  }
  if (scores.dim() != 2 || scores.size(0) != kSamples) {
    return InvalidArgument(
        "{} gives scores of [{}] for {} samples; it must give one row of scores a sample, "
        "[samples, classes]",
        NameOf("model", recipe.model), fmt::join(scores.sizes(), ", "), kSamples);
  }
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<const Loss> loss, recipe.train.loss.build());
  status = CatchTorchErrors([&] {
    const at::Tensor mean = loss->Mean(scores, at::zeros({kSamples}, at::kLong));
    if (mean.requires_grad()) mean.backward();
    model.zero_grad();
  });
  return status.While(fmt::format("trying {} on scores of [{}] of {}",
                                  NameOf("loss", recipe.train.loss),
                                  fmt::join(scores.sizes(), ", "), NameOf("model", recipe.model)));
}

}  // namespace stoker
