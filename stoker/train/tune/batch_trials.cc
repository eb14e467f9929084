#include "stoker/train/tune/batch_trials.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/base/clock.h"
#include "stoker/base/statistics.h"
#include "stoker/device/tensor.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/layers.h"
#include "stoker/train/tune/tiny_step_internal.h"
#include "stoker/train/tune/trial_outliers.h"

namespace stoker {
namespace {

constexpr int kFewestTimedSteps = 3;

std::string Megabytes(uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) * 1e-6);
}

// Batch norm cannot be trained on one value a channel, which one small sample may be.
std::string WhyNotAlone(const Status& status) {
  if (MeetsOneValueOfAChannel(status)) return "batch norm needs more than one value a channel";
  return fmt::format("one sample alone cannot be trained on: {}", status.message());
}

}  // namespace

TensorBatch Repeated(const TensorBatch& batch, int64_t size) {
  return {batch.input.Repeated(size), batch.target.Repeated(size)};
}

BatchTrials::BatchTrials(const Recipe& recipe, ModelInput input, const Placement& placement,
                         TensorBatch samples, TrialOptions options)
    : recipe_(recipe),
      input_(input),
      placement_(placement),
      samples_(std::move(samples)),
      options_(options),
      meter_(placement.device) {}

Result<std::unique_ptr<BatchTrials>> BatchTrials::Create(const Recipe& recipe,
                                                         const ModelInput& input,
                                                         const Placement& placement,
                                                         TensorBatch samples,
                                                         TrialOptions options) {
  std::unique_ptr<BatchTrials> trials(
      new BatchTrials(recipe, input, placement, std::move(samples), options));
  // What is wrong with the recipe shows here, and not as a size that does not fit.
  STOKER_ASSIGN_OR_RETURN(trials->learner_, Learner::Create(recipe, input, placement));
  return trials;
}

Result<BatchTrial> BatchTrials::Try(int64_t batch) {
  BatchTrial trial{.batch = batch};
  const std::optional<uint64_t> predicted = PredictedBytes(trials_, batch);
  // By a tenth at least: near the limit only a trial can tell.
  if (predicted && *predicted / 11 * 10 > options_.memory_bytes) {
    trial.reason = fmt::format("would need about {}", Megabytes(*predicted));
  } else if (const Status status = Measure(trial); !status.ok()) {
    const bool memory = status.code() == StatusCode::kResourceExhausted;
    if (!memory && batch > 1) return status;
    Refuse(trial, memory ? "out of memory" : WhyNotAlone(status));
  } else if (trial.peak_bytes > options_.memory_bytes) {
    Refuse(trial, fmt::format("needs {}", Megabytes(trial.peak_bytes)));
  } else {
    trial.fits = true;
  }
  trials_.push_back(trial);
  return trial;
}

Status BatchTrials::RetimeOutliers() {
  for (const size_t i : SlowOutliers(trials_)) {
    BatchTrial again{.batch = trials_[i].batch};
    const Status status = Measure(again);
    if (status.code() == StatusCode::kResourceExhausted) {  // it has fitted before
      learner_.reset();
      continue;
    }
    STOKER_RETURN_IF_ERROR(status);
    if (again.images_per_s <= trials_[i].images_per_s) continue;
    trials_[i].images_per_s = again.images_per_s;
    trials_[i].step_ms = again.step_ms;
  }
  return OkStatus();
}

// What a failed step leaves over is dropped before the next: gradients, a half-done backward pass.
void BatchTrials::Refuse(BatchTrial& trial, std::string reason) {
  trial.reason = std::move(reason);
  learner_.reset();
  ReleaseCachedMemory(placement_.device);
}

Status BatchTrials::Measure(BatchTrial& trial) {
  if (learner_ == nullptr) {
    STOKER_ASSIGN_OR_RETURN(learner_, Learner::Create(recipe_, input_, placement_));
  }
  meter_.Reset();
  TensorBatch batch;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    batch = Repeated(samples_, trial.batch);
    batch.input = batch.input.InLayout(ToTorch(placement_.memory_format));
  }));
  STOKER_RETURN_IF_ERROR(StepOnce(batch));
  trial.peak_bytes = meter_.peak();
  if (trial.peak_bytes > options_.memory_bytes) return OkStatus();  // no need to time it
  std::vector<double> steps_ms;
  const Stopwatch all;
  while (std::ssize(steps_ms) < kFewestTimedSteps || all.ElapsedSeconds() < options_.seconds) {
    const Stopwatch watch;
    STOKER_RETURN_IF_ERROR(StepOnce(batch));
    steps_ms.push_back(watch.ElapsedSeconds() * 1e3);
  }
  trial.peak_bytes = meter_.peak();
  trial.step_ms = Median(steps_ms);
  trial.images_per_s = static_cast<double>(trial.batch) / trial.step_ms * 1e3;
  return OkStatus();
}

Status BatchTrials::StepOnce(const TensorBatch& batch) {
  if (options_.forward_only) {
    STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
      const at::NoGradGuard no_grad;
      learner_->model().eval();
      learner_->model().ForwardAll(batch.input);
    }));
  } else {
    STOKER_RETURN_IF_ERROR(learner_->Step(batch, kTinyStep).status());
  }
  return CatchTorchErrors([&] { Synchronize(placement_.device); });
}

Status SearchBatches(BatchTrials& trials, BatchSearch& search,
                     const std::function<bool(const BatchTrial&)>& told) {
  while (const std::optional<int64_t> size = search.Next()) {
    STOKER_ASSIGN_OR_RETURN(const BatchTrial trial, trials.Try(*size));
    search.Report(trial.fits);
    if (told && !told(trial)) break;
  }
  return OkStatus();
}

}  // namespace stoker
