#include "stoker/train/tune/step_timer.h"

#include <algorithm>

#include "stoker/base/statistics.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/device_prefetcher.h"
#include "stoker/device/tensor.h"
#include "stoker/train/core/token_check.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/plan/model_trial.h"
#include "stoker/train/tune/memory_meter.h"
#include "stoker/train/tune/tiny_step_internal.h"
#include "stoker/train/tune/tune_knobs.h"

namespace stoker {
namespace {

constexpr size_t kSamplesAVisit = 3;
constexpr double kSecondsToWarmUp = 0.05;  // and at least one step
constexpr int kMostVisits = 8;
// An alternative that is this much slower than the best is not looked at a third time, or not a
// second: what comes first fills caches.
constexpr double kHopeless = 1.5, kHopelessAtOnce = 4;
// Nor is one whose first step, which fills caches, takes so many times as long.
constexpr double kHopelessAtFirst = 20;
// For a pass with data: what was read ahead before the first step is used up meanwhile.
constexpr int kStepsBefore = 6;
constexpr int kStepsOfASample = 4, kSamplesAPass = 3;
constexpr int kStepsAPass = kStepsBefore + kStepsOfASample * kSamplesAPass;
constexpr int kMostPasses = 3;

}  // namespace

// Valid until the next call.
Result<StepTimer::Made*> StepTimer::MadeFor(const Choices& choices) {
  const auto found = std::ranges::find_if(made_, [&](const Made& made) {
    return made.memory_format == choices.memory_format && made.precision == choices.precision &&
           made.graph == choices.graph;
  });
  if (found != made_.end()) {
    std::rotate(made_.begin(), found, found + 1);  // the one used last comes first
    return &made_.front();
  }
  if (made_.size() > 1) made_.pop_back();
  const Stopwatch watch;
  STOKER_ASSIGN_OR_RETURN(
      std::shared_ptr<Learner> learner,
      Learner::Create(recipe_, plan_.input, {device_, choices.memory_format, choices.precision}));
  STOKER_RETURN_IF_ERROR(UseGraph(choices, *learner));
  make_seconds_ = watch.ElapsedSeconds();
  made_.insert(made_.begin(), {choices.memory_format, choices.precision, choices.graph, learner});
  return &made_.front();
}

// Where the recipe asks for graphs, alternatives are timed with them too, if there can be any.
Status StepTimer::UseGraph(const Choices& choices, Learner& learner) const {
  const bool asked = recipe_.train.options.graph == "on";
  if (choices.graph && !learner.LaunchesAlike()) {
    return Unavailable(
        "the model or the loss does not say that every pass makes the same launches "
        "(LaunchesAlike); train.graph: on records them all the same");
  }
  if (!choices.graph && !(asked && GraphObstacle(recipe_.train.options).empty())) return OkStatus();
  Result<std::unique_ptr<DeviceGraph>> graph = new_graph_(device_);
  if (!graph.ok()) return choices.graph ? graph.status() : OkStatus();
  learner.UseGraph(*std::move(graph));
  return OkStatus();
}

// A device is given several steps at once, as in a run, and waited for after the last.
Status StepTimer::Time(Learner& learner, const TensorBatch& batch, size_t samples,
                       StepTimes& times) const {
  for (size_t i = 0; i < samples; ++i) {
    const Stopwatch watch;
    for (int step = 0; step < StepsTogether(); ++step) {
      STOKER_RETURN_IF_ERROR(learner.Step(batch, kTinyStep).status());
    }
    Synchronize(device_);
    times.push_back(watch.ElapsedSeconds() * 1e3 / StepsTogether());
    STOKER_RETURN_IF_ERROR(CheckTime());
  }
  return OkStatus();
}

Status StepTimer::CheckTime() const {
  if (!ends_ || ElapsedSeconds() < *ends_) return OkStatus();
  return Cancelled("the time for the comparison is up");
}

// Passes are recorded after a few run in the usual way, which must not be timed as recorded ones.
int64_t StepTimer::StepsToWarmUp(const Made& made) {
  return made.graph ? GraphedPass::kStepsBefore + 1 : 1;
}

// Wakes up the threads; and the first time, when memory is touched and caches are filled, goes on
// until steps are what they will be. Returns the milliseconds of the last step.
Result<double> StepTimer::WarmUp(Made& made, const TensorBatch& batch) const {
  const Stopwatch watch;
  StepTimes times;
  do {
    STOKER_RETURN_IF_ERROR(Time(*made.learner, batch, 1, times));
  } while (!made.warm &&
           (watch.ElapsedSeconds() < kSecondsToWarmUp || std::ssize(times) < StepsToWarmUp(made)));
  made.warm = true;
  const std::string note = made.learner->TakeGraphNote();
  if (made.graph && !note.empty()) return Unavailable("{}", note);
  return times.back();
}

// What is recorded keeps memory of its own: where steps in the usual way then find too little,
// those of another batch size and evaluations would fail later.
Status StepTimer::CheckMemory(const Choices& choices, int64_t retries_before) const {
  if (!choices.graph || AllocationRetries(device_) == retries_before) return OkStatus();
  return Unavailable("the device's memory does not hold recorded passes beside others");
}

Status StepTimer::Visit(const Choices& choices, StepTimes& times,
                        std::optional<double> too_slow_ms) {
  STOKER_RETURN_IF_ERROR(ApplyChoices(choices));
  STOKER_ASSIGN_OR_RETURN(Made* const made, MadeFor(choices));
  const int64_t retries = AllocationRetries(device_);
  TensorBatch batch = first_->batch;
  batch.input = batch.input.InLayout(ToTorch(choices.memory_format));
  STOKER_ASSIGN_OR_RETURN(const double before_ms, WarmUp(*made, batch));
  STOKER_RETURN_IF_ERROR(CheckMemory(choices, retries));
  if (too_slow_ms && before_ms > *too_slow_ms) {
    times.push_back(before_ms);
    return OkStatus();
  }
  return Time(*made->learner, batch, kSamplesAVisit, times);
}

// On the CPU a wrong target or token is an error of the run's own step, which says more.
Status StepTimer::CheckBatches(const Choices& first) {
  if (device_.is_cpu()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(Made* const made, MadeFor(first));
  Learner& learner = *made->learner;
  const TrainOptions& options = recipe_.train.options;
  const RowNames names = NamesInSource(recipe_.data.train, static_cast<uint64_t>(options.seed),
                                       options.input, "data.train");
  checks_ = {.targets = TargetChecksOf(
                 learner.objective(), names,
                 OutputsToCheck(plan_.outputs, learner.model(), plan_.input, device_)),
             .inputs = TokenChecksOf(plan_.tokens, recipe_.train.options.AllInputs(), names)};
  return OkStatus();
}

// Steps of which LeastSeconds would be more than there is are not timed again.
Result<StepTimes> StepTimer::Begin(const Choices& first, double most_seconds) {
  STOKER_RETURN_IF_ERROR(
      plan_.batches.dataset.Open(Runtime::Inline(), {.losses = LossLogging::kNone}).status());
  STOKER_RETURN_IF_ERROR(CheckBatches(first));
  watch_ = Stopwatch();
  STOKER_ASSIGN_OR_RETURN(first_, ReadFirstBatch(recipe_, device_, checks_));
  open_seconds_ = ElapsedSeconds();
  StepTimes times;
  if (!device_.is_cpu()) {
    STOKER_RETURN_IF_ERROR(Visit(first, times, /*too_slow_ms=*/0));  // only warms up
    times.clear();
    watch_ = Stopwatch();
  }
  const double steps_of_a_comparison = 2.0 * (1 + kSamplesAVisit) * StepsTogether();
  STOKER_RETURN_IF_ERROR(Visit(first, times, most_seconds * 1e3 / steps_of_a_comparison));
  return times;
}

double StepTimer::LeastSeconds(StepKind kind, double step_ms) const {
  const double step = step_ms * 1e-3;
  if (kind == StepKind::kWithData) return 2 * (open_seconds_ + kStepsAPass * step);
  return make_seconds_ + kSecondsToWarmUp + 2.0 * (1 + kSamplesAVisit) * StepsTogether() * step;
}

Result<ChoiceTimer::Compared> StepTimer::Compare(const Choices& best, const Choices& other,
                                                 StepKind kind, double seconds,
                                                 double most_seconds) {
  ends_ = ElapsedSeconds() + most_seconds;
  Compared compared;
  const Status status = kind == StepKind::kWithData
                            ? CompareWithData(best, other, seconds, compared)
                            : CompareComputing(best, other, seconds, compared);
  ends_.reset();
  const bool enough = std::min(compared.best.size(), compared.other.size()) >= kSamplesAVisit;
  if (status.ok() || (status.code() == StatusCode::kCancelled && enough)) return compared;
  return status;
}

// They take turns, so that a machine busy with other things for a while slows both alike.
Status StepTimer::CompareComputing(const Choices& best, const Choices& other, double seconds,
                                   Compared& compared) {
  const Stopwatch watch;
  for (int visit = 0; visit < kMostVisits; ++visit) {
    STOKER_RETURN_IF_ERROR(Visit(best, compared.best));
    const double best_ms = Median(compared.best);
    const auto hopeless_ms = visit == 0 ? std::optional(kHopelessAtFirst * best_ms) : std::nullopt;
    STOKER_RETURN_IF_ERROR(Visit(other, compared.other, hopeless_ms));
    if (Median(compared.other) > (visit == 0 ? kHopelessAtOnce : kHopeless) * best_ms) break;
    const double of_a_visit = watch.ElapsedSeconds() / (visit + 1);
    if (watch.ElapsedSeconds() + of_a_visit > seconds) break;
  }
  return OkStatus();
}

Status StepTimer::CompareWithData(const Choices& best, const Choices& other, double seconds,
                                  Compared& compared) {
  const Stopwatch watch;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    STOKER_RETURN_IF_ERROR(TimeWithData(best, compared.best));
    STOKER_RETURN_IF_ERROR(TimeWithData(other, compared.other));
    if (Median(compared.other) > kHopeless * Median(compared.best)) break;
    const double of_a_pass = watch.ElapsedSeconds() / (pass + 1);
    if (watch.ElapsedSeconds() + of_a_pass > seconds) break;
  }
  return OkStatus();
}

// Samples are of several steps, since batches that are made by several threads come in bursts.
Status StepTimer::TimeWithData(const Choices& choices, StepTimes& times) {
  STOKER_RETURN_IF_ERROR(ApplyChoices(choices));
  STOKER_ASSIGN_OR_RETURN(Made* const made, MadeFor(choices));
  const TrainOptions& options = recipe_.train.options;
  const PlacedPipeline placed = plan_.BatchesFor(choices);
  FeederOptions feed = FeedOptions(options, placed.dataset, device_, choices.memory_format);
  NormalizeField(options.input, placed.normalize, feed);
  feed.check = checks_;
  const PipelineCpuScope cpus(FeedCpus(options, device_, choices.feed_threads));
  STOKER_ASSIGN_OR_RETURN(const auto batches,
                          DevicePrefetcher::Open(placed.dataset, FeedRuntime(options),
                                                 {.seed = static_cast<uint64_t>(options.seed),
                                                  .losses = LossLogging::kNone},
                                                 feed, choices.device_prefetch));
  Stopwatch watch;
  for (int step = 1; step <= kStepsAPass; ++step) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TensorBatch> batch, batches->Next());
    if (!batch) return FailedPrecondition("the data ended after {} batches", step - 1);
    STOKER_RETURN_IF_ERROR(made->learner->Step(*batch, kTinyStep).status());
    STOKER_RETURN_IF_ERROR(CheckTime());
    if (step < kStepsBefore || (step - kStepsBefore) % kStepsOfASample != 0) continue;
    Synchronize(device_);
    if (step > kStepsBefore) times.push_back(watch.ElapsedSeconds() * 1e3 / kStepsOfASample);
    watch = Stopwatch();
  }
  return OkStatus();
}

}  // namespace stoker
