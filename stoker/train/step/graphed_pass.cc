#include "stoker/train/step/graphed_pass.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <utility>

#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

bool AreAlike(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() && a.dtype() == b.dtype();
}

}  // namespace

std::string GraphObstacle(const TrainOptions& options) {
  if (options.accumulate > 1) return "accumulate adds the gradients of several batches up";
  if (options.detect_anomaly) return "detect_anomaly looks at every operator";
  if (!options.activation_checkpointing.empty()) {
    return "activation_checkpointing puts random states back in the middle of a step";
  }
  return {};
}

bool GraphedPass::Fits(const TensorBatch& batch) const {
  return std::ranges::equal(batch.input.all(), inputs_.input.all(), AreAlike) &&
         AreAlike(batch.target, inputs_.target);
}

void GraphedPass::CopyIn(const TensorBatch& batch) {
  for (size_t i = 0; i < batch.input.all().size(); ++i)
    inputs_.input.all()[i].copy_(batch.input.all()[i], /*non_blocking=*/true);
  inputs_.target.copy_(batch.target, /*non_blocking=*/true);
}

void GraphedPass::Record(const TensorBatch& batch) {
  inputs_ = {
      .input = batch.input.Each([](const at::Tensor& input) { return at::empty_like(input); }),
      .target = at::empty_like(batch.target)};
  CopyIn(batch);
  const Status status = CatchTorchErrors([&] {
    results_ = graph_->Capture([this] {
      const at::AutoGradMode with_gradients(true);
      return pass_(inputs_);
    });
  });
  if (status.ok()) return;
  graph_.reset();
  results_.reset();
  note_ = fmt::format("its launches could not be recorded ({})", status.message());
}

std::optional<DeviceGraph::Tensors> GraphedPass::Run(const TensorBatch& batch) {
  if (!graph_) return std::nullopt;
  const at::NoGradGuard no_grad;
  if (!inputs_.input.defined()) inputs_ = batch;
  if (!Fits(batch)) {
    if (!std::exchange(told_shape_, true)) {
      note_ = fmt::format("batches of {} are done in the usual way, those of {} as a whole",
                          batch.input.ShapesText(), inputs_.input.ShapesText());
    }
    return std::nullopt;
  }
  if (warm_ < kStepsBefore) {
    ++warm_;
    return std::nullopt;
  }
  if (!results_) {
    Record(batch);
    if (!results_) return std::nullopt;
  } else {
    CopyIn(batch);
  }
  graph_->Replay();
  return results_;
}

}  // namespace stoker
