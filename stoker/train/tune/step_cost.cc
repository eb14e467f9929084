#include "stoker/train/tune/step_cost.h"

#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/statistics.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/tensor.h"
#include "stoker/device/torch_denormals.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/plan/first_batch.h"
#include "stoker/train/step/learner.h"
#include "stoker/train/tune/tiny_step_internal.h"
#include "stoker/train/tune/tune_knobs.h"

namespace stoker {
namespace {

constexpr size_t kFewestSteps = 3;

// Seconds of single steps.
struct Times {
  std::vector<double> whole, backward, optimizer;
};

Status Step(Learner& learner, const TensorBatch& batch, c10::Device device, Times& times) {
  const Stopwatch watch;
  STOKER_RETURN_IF_ERROR(learner.Backward(batch));
  Synchronize(device);
  const double backward = watch.ElapsedSeconds();
  STOKER_RETURN_IF_ERROR(learner.Update(kTinyStep, 1).status());
  Synchronize(device);
  times.whole.push_back(watch.ElapsedSeconds());
  times.backward.push_back(backward);
  times.optimizer.push_back(times.whole.back() - backward);
  return OkStatus();
}

double SecondsToCopy(const TensorBatch& batch, c10::Device device) {
  if (device.is_cpu()) return 0;
  const Inputs host = batch.input.To(c10::kCPU);
  Synchronize(device);
  const Stopwatch watch;
  const Inputs copied = host.To(device);
  Synchronize(device);
  return watch.ElapsedSeconds();
}

}  // namespace

Result<StepCost> MeasureStep(const Recipe& recipe, const Choices& choices, double seconds,
                             const std::atomic<bool>* stop) {
  const auto stopped = [stop] { return stop != nullptr && *stop; };
  STOKER_ASSIGN_OR_RETURN(const OpenedDevice opened, OpenDeviceFor(recipe.train.options));
  const TorchFloatModes modes;
  STOKER_RETURN_IF_ERROR(ApplyChoices(choices));
  STOKER_ASSIGN_OR_RETURN(FirstBatch first, ReadFirstBatch(recipe, opened.device));
  const double copy = SecondsToCopy(first.batch, opened.device);
  first.batch.input = first.batch.input.InLayout(ToTorch(choices.memory_format));
  STOKER_ASSIGN_OR_RETURN(const auto learner,
                          Learner::Create(recipe, first.input,
                                          {.device = opened.device,
                                           .memory_format = choices.memory_format,
                                           .precision = choices.precision}));
  learner->Check({.gradients = recipe.train.options.on_nonfinite != "stop",
                  .layers = recipe.train.options.detect_anomaly});
  Times times;
  STOKER_RETURN_IF_ERROR(Step(*learner, first.batch, opened.device, times));  // warms up
  times = Times();
  const Stopwatch watch;
  while (!stopped() && (times.whole.size() < kFewestSteps || watch.ElapsedSeconds() < seconds)) {
    STOKER_RETURN_IF_ERROR(Step(*learner, first.batch, opened.device, times));
  }
  if (times.whole.size() < kFewestSteps) return Cancelled("stopped while steps were timed");
  return StepCost{.batch = first.batch.size(),
                  .seconds = Median(times.whole),
                  .backward_s = Median(times.backward),
                  .optimizer_s = Median(times.optimizer),
                  .copy_s = copy,
                  .threads = choices.threads,
                  .accelerator = !opened.is_cpu()};
}

}  // namespace stoker
