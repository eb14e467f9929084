#include "stoker/train/callbacks/log_tensors.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>

#include <cmath>

#include "stoker/base/json_or_null.h"
#include "stoker/base/log.h"
#include "stoker/base/short_text.h"
#include "stoker/device/torch_error.h"
#include "stoker/run/metrics_file.h"
#include "stoker/train/core/callback.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/core/row_gradient.h"

namespace stoker {
namespace {

Json Figure(const at::Tensor& value) { return FiniteOrNull(value.item<double>()); }

// The figures of the values divided by `scale`.
Json FiguresOf(const at::Tensor& tensor, double scale) {
  if (tensor.numel() == 0) return nullptr;
  const at::Tensor values = tensor.detach().to(at::kDouble) / scale;
  return {{"mean", Figure(values.mean())},
          {"std", Figure(values.std(/*unbiased=*/false))},
          {"min", Figure(values.min())},
          {"max", Figure(values.max())},
          {"norm", Figure(values.norm())},
          {"not_finite", values.numel() - at::isfinite(values).sum().item<int64_t>()}};
}

class LogTensorsCallback final : public Callback {
 public:
  explicit LogTensorsCallback(const LogTensors& options) : options_(options) {}

  Status OnStart(RunView& run) override {
    bool any = false;
    for (const auto& [name, tensor] : ParametersOf(run.model)) {
      any = any || MatchesPattern(name, options_.match);
    }
    if (!any) {
      return InvalidArgument("'{}' matches no parameter of the model; the first is '{}'",
                             ShortText(options_.match), ParametersOf(run.model).front().name);
    }
    if (run.rank > 0) return OkStatus();  // weights and gradients are the same on all ranks
    STOKER_ASSIGN_OR_RETURN(file_, MetricsFile::Open((run.run / "tensors.jsonl").string()));
    STOKER_ASSIGN_OR_RETURN(const uint64_t there, file_->Size());
    if (there >= kept_bytes_) return file_->CutBack(kept_bytes_);
    LogWarning("{}: has {} bytes, and {} were written: lines are missing",
               (run.run / "tensors.jsonl").string(), there, kept_bytes_);
    return file_->CutBack(there);
  }

  Status OnBackward(RunView& run) override {
    if (!file_ || (run.step + 1) % options_.every != 0) return OkStatus();
    return CatchTorchErrors([&]() -> Status {
      const at::NoGradGuard no_grad;
      for (const auto& [name, tensor] : ParametersOf(run.model)) {
        if (!MatchesPattern(name, options_.match)) continue;
        Json line = {{"step", run.step + 1}, {"name", name}, {"value", FiguresOf(tensor, 1)}};
        if (tensor.grad().defined())
          line["gradient"] = FiguresOf(ValuesOfGradient(tensor.grad()), run.gradient_scale);
        STOKER_RETURN_IF_ERROR(file_->Append(line));
      }
      return OkStatus();
    });
  }

  Result<Json> Save() const override {
    STOKER_RETURN_IF_ERROR(file_->Sync());
    STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, file_->Size());
    return Json{{"bytes", bytes}};
  }
  Status Restore(const Json& state) override {
    const Json bytes = state.is_object() ? state.value("bytes", Json()) : Json();
    if (!bytes.is_number_unsigned()) return DataLoss("'bytes' is no size");
    kept_bytes_ = bytes.get<uint64_t>();
    return OkStatus();
  }

 private:
  const LogTensors options_;
  std::optional<MetricsFile> file_;
  uint64_t kept_bytes_ = 0;  // that a resumed run appends to
};

}  // namespace

void LogTensors::Describe(OptionTable<LogTensors>& table) {
  table.Field("every", &LogTensors::every, "steps between lines", AtLeast(1))
      .Field("match", &LogTensors::match,
             "names of parameters; * stands for any letters, ? for one");
}

Result<std::shared_ptr<Callback>> LogTensors::Build() const {
  return std::make_shared<LogTensorsCallback>(*this);
}

}  // namespace stoker
