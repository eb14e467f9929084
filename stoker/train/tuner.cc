#include "stoker/train/tuner.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/clock.h"
#include "stoker/base/statistics.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/tensor.h"
#include "stoker/train/first_batch.h"
#include "stoker/train/learner.h"
#include "stoker/train/random_state.h"

namespace stoker {
namespace {

constexpr int kStepsAVisit = 2;
constexpr int kMostVisits = 6;
constexpr double kSecondsInAll = 2;
// An alternative this much slower than the fastest is not looked at again.
constexpr double kHopeless = 1.5;
// What an alternative must gain to be preferred over the one listed before it: less is noise.
constexpr double kWorthwhile = 0.98;
// Steps that leave the weights nearly where they are take as long as any.
constexpr ScheduleValue kTinyStep{.lr = 1e-6, .momentum = {}};

// One alternative while it is timed.
struct Candidate {
  Choices choices;
  std::shared_ptr<Learner> learner;  // shared by those of one layout and precision
  std::vector<double> steps_ms = {};
  bool hopeless = false;

  double median_ms() const { return Median(steps_ms); }
};

// One step as the run will do it, its conversion of the layout included.
Status StepOnce(Candidate& candidate, const TensorBatch& batch) {
  TensorBatch laid_out = batch;
  laid_out.input = InLayout(batch.input, ToTorch(candidate.choices.memory_format));
  STOKER_RETURN_IF_ERROR(candidate.learner->Step(laid_out, kTinyStep).status());
  Synchronize(batch.input.device());
  return OkStatus();
}

// The first step of a visit wakes up the threads, and fills caches the first time; it is not timed.
Status Visit(Candidate& candidate, const TensorBatch& batch) {
  at::set_num_threads(candidate.choices.threads);
  STOKER_RETURN_IF_ERROR(StepOnce(candidate, batch));
  for (int i = 0; i < kStepsAVisit; ++i) {
    const Stopwatch watch;
    STOKER_RETURN_IF_ERROR(StepOnce(candidate, batch));
    candidate.steps_ms.push_back(watch.ElapsedSeconds() * 1e3);
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

// The candidates take turns, so that a machine busy with other things for a while slows all alike.
Status TimeAll(std::vector<Candidate>& candidates, const TensorBatch& batch) {
  const Stopwatch watch;
  for (int visit = 0; visit < kMostVisits; ++visit) {
    for (Candidate& candidate : candidates) {
      if (visit > 0 && watch.ElapsedSeconds() > kSecondsInAll) return OkStatus();
      if (!candidate.hopeless) STOKER_RETURN_IF_ERROR(Visit(candidate, batch));
    }
    const double fastest_ms = candidates[Fastest(candidates)].median_ms();
    for (Candidate& candidate : candidates) {
      candidate.hopeless = candidate.median_ms() > kHopeless * fastest_ms;
    }
  }
  return OkStatus();
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
    STOKER_ASSIGN_OR_RETURN(std::vector<Candidate> candidates, Candidates());
    TuneReport report{.reason = "fixed by the recipe, or nothing to choose from"};
    size_t chosen = 0;
    if (candidates.size() > 1) {
      STOKER_ASSIGN_OR_RETURN(const FirstBatch first, ReadFirstBatch(recipe_, device_));
      STOKER_RETURN_IF_ERROR(TimeAll(candidates, first.batch).While("timing the alternatives"));
      chosen = Fastest(candidates);
      report.reason = "the fastest of real training steps";
      for (const Candidate& candidate : candidates) report.trials.push_back(TrialOf(candidate));
      report.trials[chosen].chosen = true;
    }
    at::set_num_threads(candidates[chosen].choices.threads);
    report.seconds = watch_.ElapsedSeconds();
    return Tuned{candidates[chosen].choices, std::move(report)};
  }

 private:
  Status FindInput() {
    const Spec& spec = recipe_.data.train.spec();
    const TrainOptions& options = recipe_.train.options;
    STOKER_ASSIGN_OR_RETURN(
        const FeederFields fields,
        FindFeederFields(spec, {.input = options.input, .target = options.target}));
    STOKER_ASSIGN_OR_RETURN(input_,
                            ModelInputOf(spec.fields[fields.input],
                                         HasChannelsLast(recipe_.data.train, options.input)));
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

  // 16 bits that scale the loss are for accelerators: CPUs that are fast in them are so in
  // bfloat16.
  std::vector<Precision> Precisions() const {
    const Result<Precision> fixed = ParsePrecision(recipe_.train.options.precision);
    if (fixed.ok()) return {*fixed};
    if (device_.is_cpu()) return {Precision::kFloat32, Precision::kBFloat16};
    return {Precision::kFloat32, Precision::kBFloat16, Precision::kFloat16};
  }

  // Every layout and precision with every number of threads; models are made only where there is a
  // choice.
  Result<std::vector<Candidate>> Candidates() const {
    const std::vector<MemoryFormat> formats = Formats();
    const std::vector<Precision> precisions = Precisions();
    const std::vector<int> threads = Threads();
    const bool choice = formats.size() * precisions.size() * threads.size() > 1;
    std::vector<Candidate> candidates;
    for (const MemoryFormat format : formats) {
      for (const Precision precision : precisions) {
        std::shared_ptr<Learner> learner;
        if (choice) {
          STOKER_ASSIGN_OR_RETURN(learner,
                                  Learner::Create(recipe_, input_, {device_, format, precision}));
        }
        for (const int count : threads) {
          candidates.push_back({.choices = {.memory_format = format,
                                            .precision = precision,
                                            .threads = count,
                                            .device = device_.str()},
                                .learner = learner});
        }
      }
    }
    return candidates;
  }

  static TuneTrial TrialOf(const Candidate& candidate) {
    return {.choices = candidate.choices,
            .step_ms = candidate.median_ms(),
            .steps = static_cast<int>(candidate.steps_ms.size())};
  }

  const Recipe& recipe_;
  const c10::Device device_;
  const Stopwatch watch_;
  ModelInput input_;
};

}  // namespace

std::string TuneReport::ToText() const {
  std::string text;
  for (const TuneTrial& trial : trials) {
    text +=
        fmt::format("{} {:<13} {:<7} {:>2} threads  {:8.2f} ms a step\n", trial.chosen ? '*' : ' ',
                    MemoryFormatName(trial.choices.memory_format),
                    PrecisionName(trial.choices.precision), trial.choices.threads, trial.step_ms);
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
