#include "stoker/train/callbacks/noise_scale.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/device/torch_error.h"
#include "stoker/train/core/callback.h"
#include "stoker/train/step/gradient_norm.h"
#include "stoker/train/step/learner.h"
#include "stoker/train/tune/noise_average.h"

namespace stoker {
namespace {

// The squared norm of the gradients that the step under way has added up.
Result<double> SquaredGradientNow(const RunView& view) {
  double squared = 0;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : view.model.parameters()) {
      gradients.push_back(parameter.grad());
    }
    squared = SumOfSquares(gradients) / (view.gradient_scale * view.gradient_scale);
  }));
  return squared;
}

class NoiseScaleCallback final : public Callback {
 public:
  explicit NoiseScaleCallback(const NoiseScale& options)
      : options_(options), average_(options.smooth) {}

  Status OnStart(RunView& view) override {
    Report(view, average_.scale());
    return OkStatus();
  }

  Status OnBatch(RunView& view, const TensorBatch& batch) override {
    if ((view.step + 1) % options_.every != 0) return OkStatus();
    sizes_.push_back(batch.size());
    if (sizes_.size() == 1) first_ = batch;
    if (sizes_.size() != 2) return OkStatus();
    first_.reset();
    // The gradient of the first batch, by its share of the step.
    STOKER_ASSIGN_OR_RETURN(share_, SquaredGradientNow(view));
    return OkStatus();
  }

  Status OnBackward(RunView& view) override {
    const std::vector<int64_t> sizes = std::exchange(sizes_, {});
    const std::optional<TensorBatch> only = std::exchange(first_, std::nullopt);
    if (sizes.empty()) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const double whole, SquaredGradientNow(view));
    if (sizes.size() == 1) return CompareHalf(view, *only, whole);
    const auto is_other = [&](int64_t size) { return size != sizes.front(); };
    if (std::ranges::any_of(sizes, is_other)) return OkStatus();
    const auto batches = static_cast<double>(sizes.size());
    const auto samples = static_cast<double>(sizes.front());
    Report(view, average_.Add({samples, share_ * batches * batches}, {samples * batches, whole}));
    return OkStatus();
  }

  Result<Json> Save() const override { return average_.Save(); }
  Status Restore(const Json& state) override { return average_.Restore(state); }

 private:
  Status CompareHalf(RunView& view, const TensorBatch& batch, double whole) {
    const int64_t half = batch.size() / 2;
    // Batch norm has no statistics of one sample, and refuses it where it has one value a channel.
    if (half < 2) return OkStatus();
    const TensorBatch first{batch.input.Rows(0, half), batch.target.Rows(0, half)};
    STOKER_ASSIGN_OR_RETURN(const double squared, view.learner.SquaredGradientOf(first));
    Report(view, average_.Add({static_cast<double>(half), squared},
                              {static_cast<double>(batch.size()), whole}));
    return OkStatus();
  }

  static void Report(RunView& view, std::optional<double> scale) {
    if (scale) {
      view.figures.insert_or_assign(std::string(NoiseScale::kName), *scale);
    } else {
      view.figures.erase(std::string(NoiseScale::kName));
    }
  }

  const NoiseScale options_;
  NoiseAverage average_;
  // Of the step under way.
  std::vector<int64_t> sizes_;
  std::optional<TensorBatch> first_;
  double share_ = 0;
};

}  // namespace

void NoiseScale::Describe(OptionTable<NoiseScale>& table) {
  table.Field("every", &NoiseScale::every, "steps between measurements", AtLeast(1))
      .Field("smooth", &NoiseScale::smooth, "weight of the past in the running means",
             Between(0, 0.9999));
}

Result<std::shared_ptr<Callback>> NoiseScale::Build() const {
  return std::make_shared<NoiseScaleCallback>(*this);
}

}  // namespace stoker
