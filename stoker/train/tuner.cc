#include "stoker/train/tuner.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/clock.h"
#include "stoker/base/statistics.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/runtime.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/tensor.h"
#include "stoker/train/learner.h"
#include "stoker/train/random_state.h"

namespace stoker {
namespace {

constexpr int kWarmUpSteps = 2;
constexpr int kStepsAVisit = 2;
constexpr int kMostSteps = 12;
constexpr double kSecondsATrial = 0.5;
// What an alternative must gain to be preferred over the one listed before it: less is noise.
constexpr double kWorthwhile = 0.98;
// Steps that leave the weights nearly where they are take as long as any.
constexpr ScheduleValue kTinyStep{.lr = 1e-6, .momentum = {}};

// One alternative while it is timed.
struct Candidate {
  Choices choices;
  std::unique_ptr<Learner> learner;
  std::vector<double> steps_ms = {};
  double spent_s = 0;

  bool done() const {
    return std::ssize(steps_ms) >= kMostSteps || (spent_s >= kSecondsATrial && !steps_ms.empty());
  }
  double median_ms() const { return Median(steps_ms); }
};

Result<TensorBatch> FirstBatch(const Recipe& recipe, c10::Device device) {
  const TrainOptions& options = recipe.train.options;
  STOKER_ASSIGN_OR_RETURN(auto elements, recipe.data.train.Open(Runtime::Threaded(1)));
  STOKER_ASSIGN_OR_RETURN(
      const auto feeder,
      Feeder::Create(std::move(elements), recipe.data.train.spec(),
                     {.input = options.input, .target = options.target, .device = device}));
  STOKER_ASSIGN_OR_RETURN(std::optional<TensorBatch> batch, feeder->Next());
  if (!batch) return InvalidArgument("data.train gives no batch; check its source and its `batch`");
  return *std::move(batch);
}

// One step as the run will do it, its conversion of the layout included.
Status StepOnce(Candidate& candidate, const TensorBatch& batch) {
  TensorBatch laid_out = batch;
  laid_out.input = InLayout(batch.input, ToTorch(candidate.choices.memory_format));
  STOKER_RETURN_IF_ERROR(candidate.learner->Step(laid_out, kTinyStep).status());
  Synchronize(batch.input.device());
  return OkStatus();
}

Status Visit(Candidate& candidate, const TensorBatch& batch) {
  at::set_num_threads(candidate.choices.threads);
  const int untimed = candidate.steps_ms.empty() ? kWarmUpSteps : 0;
  const Stopwatch visit;
  for (int i = 0; i < untimed + kStepsAVisit; ++i) {
    const Stopwatch watch;
    STOKER_RETURN_IF_ERROR(StepOnce(candidate, batch));
    if (i >= untimed) candidate.steps_ms.push_back(watch.ElapsedSeconds() * 1e3);
  }
  candidate.spent_s += visit.ElapsedSeconds();
  return OkStatus();
}

// The candidates take turns, so that a machine busy with other things for a while slows all alike.
Status TimeAll(std::vector<Candidate>& candidates, const TensorBatch& batch) {
  while (!std::ranges::all_of(candidates, &Candidate::done)) {
    for (Candidate& candidate : candidates) {
      if (!candidate.done()) STOKER_RETURN_IF_ERROR(Visit(candidate, batch));
    }
  }
  return OkStatus();
}

// Index of the fastest, with the benefit of the doubt for those listed first.
size_t Fastest(const std::vector<Candidate>& candidates) {
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i) {
    if (candidates[i].median_ms() < kWorthwhile * candidates[best].median_ms()) best = i;
  }
  return best;
}

bool HasImageParameters(const Recipe& recipe, const ModelInput& input) {
  const auto model = BuildModel(recipe.model, input, /*seed=*/0, {});
  return model.ok() && std::ranges::any_of((*model)->parameters(),
                                           [](const at::Tensor& p) { return p.dim() == 4; });
}

class Tuning {
 public:
  Tuning(const Recipe& recipe, c10::Device device) : recipe_(recipe), device_(device) {}

  Result<Tuned> Run() {
    STOKER_RETURN_IF_ERROR(FindInput());
    Choices now{.memory_format = Formats().front(), .threads = Threads().front()};
    STOKER_ASSIGN_OR_RETURN(now, Decide(now, FormatAlternatives(now)));
    STOKER_ASSIGN_OR_RETURN(now, Decide(now, ThreadAlternatives(now)));
    at::set_num_threads(now.threads);
    for (TuneTrial& trial : trials_) trial.chosen = trial.choices == now;
    return Tuned{now,
                 {.trials = std::move(trials_),
                  .seconds = watch_.ElapsedSeconds(),
                  .reason = batch_ ? "the fastest of real training steps"
                                   : "fixed by the recipe, or nothing to choose from"}};
  }

 private:
  Status FindInput() {
    const Spec& spec = recipe_.data.train.spec();
    const TrainOptions& options = recipe_.train.options;
    STOKER_ASSIGN_OR_RETURN(
        const FeederFields fields,
        FindFeederFields(spec, {.input = options.input, .target = options.target}));
    STOKER_ASSIGN_OR_RETURN(input_, ModelInputOf(spec.fields[fields.input]));
    return OkStatus();
  }

  std::vector<MemoryFormat> Formats() const {
    const Result<MemoryFormat> fixed = ParseMemoryFormat(recipe_.train.options.memory_format);
    if (fixed.ok()) return {*fixed};
    if (!HasImageParameters(recipe_, input_)) return {MemoryFormat::kContiguous};
    return {MemoryFormat::kContiguous, MemoryFormat::kChannelsLast};
  }

  // An accelerator's step does not depend on the CPU threads.
  std::vector<int> Threads() const {
    const std::optional<int64_t>& fixed = recipe_.train.options.threads;
    if (fixed) return {static_cast<int>(*fixed)};
    const int cpus = AvailableCpus();
    if (cpus == 1 || !device_.is_cpu()) return {cpus};
    return {cpus, cpus / 2};
  }

  std::vector<Choices> FormatAlternatives(Choices now) const {
    std::vector<Choices> alternatives;
    for (const MemoryFormat format : Formats()) {
      alternatives.push_back({.memory_format = format, .threads = now.threads});
    }
    return alternatives;
  }

  std::vector<Choices> ThreadAlternatives(Choices now) const {
    std::vector<Choices> alternatives;
    for (const int threads : Threads()) {
      alternatives.push_back({.memory_format = now.memory_format, .threads = threads});
    }
    return alternatives;
  }

  // Times the alternatives where there are several, and notes those not noted yet.
  Result<Choices> Decide(Choices now, const std::vector<Choices>& alternatives) {
    if (alternatives.size() < 2) return now;
    if (!batch_) {
      STOKER_ASSIGN_OR_RETURN(batch_, FirstBatch(recipe_, device_));
    }
    std::vector<Candidate> candidates;
    for (const Choices& choices : alternatives) {
      STOKER_ASSIGN_OR_RETURN(auto learner,
                              Learner::Create(recipe_, input_, {device_, choices.memory_format}));
      candidates.push_back({.choices = choices, .learner = std::move(learner)});
    }
    STOKER_RETURN_IF_ERROR(TimeAll(candidates, *batch_).While("timing the alternatives"));
    for (const Candidate& candidate : candidates) Note(candidate);
    return candidates[Fastest(candidates)].choices;
  }

  void Note(const Candidate& candidate) {
    const bool known = std::ranges::any_of(
        trials_, [&](const TuneTrial& trial) { return trial.choices == candidate.choices; });
    if (known) return;
    trials_.push_back({.choices = candidate.choices,
                       .step_ms = candidate.median_ms(),
                       .steps = static_cast<int>(candidate.steps_ms.size())});
  }

  const Recipe& recipe_;
  const c10::Device device_;
  const Stopwatch watch_;
  ModelInput input_;
  std::optional<TensorBatch> batch_;
  std::vector<TuneTrial> trials_;
};

}  // namespace

std::string TuneReport::ToText() const {
  std::string text;
  for (const TuneTrial& trial : trials) {
    text += fmt::format("{} {:<13} {:>2} threads  {:8.2f} ms a step\n", trial.chosen ? '*' : ' ',
                        MemoryFormatName(trial.choices.memory_format), trial.choices.threads,
                        trial.step_ms);
  }
  return text;
}

Result<Tuned> Tune(const Recipe& recipe, const c10::Device& device) {
  const Json random = SaveRandomState(device);
  Result<Tuned> tuned = Tuning(recipe, device).Run();
  STOKER_RETURN_IF_ERROR(RestoreRandomState(random, device));
  return tuned;
}

}  // namespace stoker
