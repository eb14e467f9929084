#include "stoker/train/model_trial.h"

#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>

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

// Forward, the loss, and back. `samples`: what they are, for messages.
Status TryBatch(const Recipe& recipe, Model& model, const TensorBatch& batch,
                const std::string& samples, const RowNames& names) {
  at::Tensor scores;
  Status status = CatchTorchErrors([&] { scores = model.ForwardToTrain(batch.input).scores; });
  if (!status.ok()) {
    return ExplainForward(status, model, batch.input)
        .While(fmt::format("trying {} on {}", NameOf("model", recipe.model), samples));
  }
  if (scores.dim() != 2 || scores.size(0) != batch.size()) {
    return InvalidArgument(
        "{} gives scores of [{}] for {} samples; it must give one row of scores a sample, "
        "[samples, classes]",
        NameOf("model", recipe.model), fmt::join(scores.sizes(), ", "), batch.size());
  }
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<const Loss> loss, recipe.train.loss.build());
  status = CatchTorchErrors([&] {
    const at::Tensor mean = loss->Mean(scores, batch.target);
    if (mean.requires_grad()) mean.backward();
    model.zero_grad();
  });
  if (!status.ok() && scores.size(1) > 1) {
    const Status target = CheckTarget(batch, scores.size(1), names);
    if (!target.ok()) status = target;
  }
  return status.While(fmt::format("trying {} on scores of [{}] of {}",
                                  NameOf("loss", recipe.train.loss),
                                  fmt::join(scores.sizes(), ", "), NameOf("model", recipe.model)));
}

}  // namespace

Status TryModel(const Recipe& recipe, Model& model, const Field& field, bool channels_last) {
  TensorBatch zeros;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    zeros.input = at::zeros(ShapeOf(field, channels_last));
    zeros.target = at::zeros({kSamples}, at::kLong);
  }));
  return TryBatch(recipe, model, zeros, fmt::format("samples of {}", field.ToString()),
                  PlacesInBatch);
}

Result<FirstBatch> TryFirstSamples(const Recipe& recipe) {
  STOKER_ASSIGN_OR_RETURN(FirstBatch first, ReadFirstBatch(recipe, c10::kCPU));
  STOKER_ASSIGN_OR_RETURN(const auto model, BuildModel(recipe.model, first.input, /*seed=*/0, {}));
  const int64_t samples = std::min(kSamples, first.batch.size());
  const TensorBatch tried{.input = first.batch.input.narrow(0, 0, samples),
                          .target = first.batch.target.narrow(0, 0, samples),
                          .key = first.batch.key};
  STOKER_RETURN_IF_ERROR(TryBatch(
      recipe, *model, tried, fmt::format("the first {} samples of data.train", samples),
      NamesInSource(recipe.data.train, /*seed=*/0, recipe.train.options.input, "data.train")));
  return first;
}

}  // namespace stoker
