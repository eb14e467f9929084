#include "stoker/train/step/hogwild.h"

#include <ATen/Parallel.h>
#include <malloc.h>

#include <utility>

#include "stoker/base/denormals.h"
#include "stoker/base/trace.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

// What a thread's batch came to.
struct PartOfStep {
  Status status;
  at::Tensor loss;
  double weight = 0;  // of its samples (Objective::Weight)
  std::string broken;
};

PartOfStep StepOn(Learner& learner, const TensorBatch& batch, const ScheduleValue& now,
                  int64_t step, size_t worker) {
  const TraceSpan span("hogwild step");
  PartOfStep part;
  learner.BeginStep(step, static_cast<int64_t>(worker));
  part.status = CatchTorchErrors([&]() -> Status {
    STOKER_RETURN_IF_ERROR(learner.Backward(batch));
    STOKER_ASSIGN_OR_RETURN(part.loss, learner.Update(now, step));
    part.weight = learner.objective().Weight(batch.target);
    return OkStatus();
  });
  if (part.status.ok() && learner.outcome() != StepOutcome::kMoved) part.broken = learner.why();
  return part;
}

// One of StepCounts.
int64_t& Count(const at::Tensor& steps) { return *steps.data_ptr<int64_t>(); }

HogwildTeam::Outcome MeanOf(const std::vector<PartOfStep>& parts) {
  HogwildTeam::Outcome mean;
  double weight = 0;
  for (const PartOfStep& part : parts) {
    if (!part.broken.empty()) return {.loss = {}, .broken = part.broken};
    weight += part.weight;
    const double share = weight > 0 ? part.weight / weight : 1;
    mean.loss = mean.loss.defined() ? mean.loss.lerp(part.loss, share) : part.loss;
  }
  return mean;
}

}  // namespace

Result<std::unique_ptr<HogwildTeam>> HogwildTeam::Create(const Recipe& recipe,
                                                         const ModelInput& input,
                                                         const Placement& placement,
                                                         Learner& leader) {
  std::unique_ptr<HogwildTeam> team(new HogwildTeam(leader));
  for (int64_t i = 0; i < recipe.train.options.hogwild; ++i) {
    // Without a plan: the leader averages the weights.
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Learner> learner,
                            Learner::Create(recipe, input, placement));
    learner->ShareStateOf(leader);
    // Its own tables are free again; a run's allocator would keep them (loop/allocator.h).
    malloc_trim(0);
    std::vector<at::Tensor> steps = learner->StepCounts();
    team->workers_.push_back({.learner = std::move(learner), .steps = std::move(steps)});
  }
  STOKER_RETURN_IF_ERROR(team->StartThreads());
  return team;
}

HogwildTeam::~HogwildTeam() {
  const MutexLock lock(mutex_);
  ended_ = true;
  begun_.NotifyAll();
}

// at::set_num_threads is for the calling thread, and for each thread that asks torch for its number
// the first time from then on.
Status HogwildTeam::StartThreads() {
  STOKER_ASSIGN_OR_RETURN(
      threads_, WorkerGroup::Start(static_cast<int>(workers_.size()), "hogwild",
                                   [this](int worker) { Work(static_cast<size_t>(worker)); }));
  const int threads = at::get_num_threads();
  const uint32_t mode = FloatMode();
  RunOnEach([mode](size_t) {
    at::get_num_threads();
    at::set_num_threads(1);
    SetFloatMode(mode);
  });
  at::set_num_threads(threads);
  return OkStatus();
}

// The updates of a step are numbered as if one thread made them after the other: optimizers correct
// their moments, which are those of all threads, by the number.
void HogwildTeam::SetStepCounts() {
  for (size_t i = 0; i < workers_.size(); ++i) {
    for (size_t k = 0; k < steps_.size(); ++k)
      Count(workers_[i].steps[k]) = Count(steps_[k]) + static_cast<int64_t>(i);
  }
}

// A parameter without a gradient had no update.
void HogwildTeam::AddStepCounts() {
  for (size_t k = 0; k < steps_.size(); ++k) {
    const int64_t before = Count(steps_[k]);
    for (size_t i = 0; i < workers_.size(); ++i)
      Count(steps_[k]) += Count(workers_[i].steps[k]) - before - static_cast<int64_t>(i);
  }
}

void HogwildTeam::Work(size_t worker) {
  for (int64_t rounds = 0;; ++rounds) {
    const std::function<void(size_t)>* what = nullptr;
    {
      const MutexLock lock(mutex_);
      begun_.Wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return ended_ || round_ > rounds; });
      if (ended_) return;
      what = what_;
    }
    (*what)(worker);
    const MutexLock lock(mutex_);
    if (--at_work_ == 0) done_.NotifyOne();
  }
}

void HogwildTeam::RunOnEach(const std::function<void(size_t worker)>& what) {
  const MutexLock lock(mutex_);
  what_ = &what;
  at_work_ = workers_.size();
  ++round_;
  begun_.NotifyAll();
  done_.Wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return at_work_ == 0; });
}

Result<HogwildTeam::Outcome> HogwildTeam::Step(std::span<const TensorBatch> batches,
                                               const ScheduleValue& now, int64_t step) {
  std::vector<PartOfStep> parts(batches.size());
  SetStepCounts();
  RunOnEach([&](size_t worker) {
    if (worker < batches.size())
      parts[worker] = StepOn(*workers_[worker].learner, batches[worker], now, step, worker);
  });
  AddStepCounts();
  for (const PartOfStep& part : parts) STOKER_RETURN_IF_ERROR(part.status);
  Outcome outcome = MeanOf(parts);
  if (outcome.broken.empty()) leader_.AverageAfter(step);
  return outcome;
}

void HogwildTeam::NameRows(const RowNames& names) {
  for (const Worker& worker : workers_) worker.learner->NameRows(names);
}

}  // namespace stoker
