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

void CopyEach(const Inputs& from, const Inputs& to) {
  const std::vector<at::Tensor> sources = from.Tensors(), places = to.Tensors();
  for (size_t i = 0; i < sources.size(); ++i) places[i].copy_(sources[i], /*non_blocking=*/true);
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
  return std::ranges::equal(batch.input.Tensors(), inputs_.input.Tensors(), AreAlike) &&
         std::ranges::equal(batch.target.all(), inputs_.target.all(), AreAlike);
}

void GraphedPass::CopyIn(const TensorBatch& batch) {
  CopyEach(batch.input, inputs_.input);
  CopyEach(batch.target, inputs_.target);
}

void GraphedPass::Record(const TensorBatch& batch) {
  const auto like = [](const at::Tensor& values) { return at::empty_like(values); };
  inputs_ = {.input = batch.input.Each(like), .target = batch.target.Each(like)};
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
