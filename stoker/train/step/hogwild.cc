#include "stoker/train/step/hogwild.h"

#include <ATen/Parallel.h>

#include <utility>

#include "stoker/base/trace.h"

namespace stoker {
namespace {

// What a thread's batch came to.
struct PartOfStep {
  Status status;
  at::Tensor loss;
  double weight = 0;  // of its samples (Loss::Weight)
  std::string broken;
};

PartOfStep StepOn(Learner& learner, const TensorBatch& batch, const ScheduleValue& now,
                  int64_t step, size_t worker) {
  const TraceSpan span("hogwild step");
  PartOfStep part;
  learner.BeginStep(step, static_cast<int64_t>(worker));
  part.status = learner.Backward(batch);
  if (!part.status.ok()) return part;
  Result<at::Tensor> loss = learner.Update(now, step);
  part.status = loss.status();
  if (!loss.ok()) return part;
  part.loss = *std::move(loss);
  part.weight = learner.loss().Weight(batch.target);
  if (learner.outcome() != StepOutcome::kMoved) part.broken = learner.why();
  return part;
}

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
  for (int64_t i = 1; i < recipe.train.options.hogwild; ++i) {
    // Without a plan: the leader alone averages the weights.
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Learner> other,
                            Learner::Create(recipe, input, placement));
    other->ShareStateOf(leader);
    team->others_.push_back(std::move(other));
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
      threads_, WorkerGroup::Start(static_cast<int>(others_.size()) + 1, "hogwild",
                                   [this](int worker) { Work(static_cast<size_t>(worker)); }));
  const int threads = at::get_num_threads();
  RunOnEach([](size_t) {
    at::get_num_threads();
    at::set_num_threads(1);
  });
  at::set_num_threads(threads);
  return OkStatus();
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
  at_work_ = others_.size() + 1;
  ++round_;
  begun_.NotifyAll();
  done_.Wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return at_work_ == 0; });
}

Result<HogwildTeam::Outcome> HogwildTeam::Step(std::span<const TensorBatch> batches,
                                               const ScheduleValue& now, int64_t step) {
  std::vector<PartOfStep> parts(batches.size());
  RunOnEach([&](size_t worker) {
    if (worker < batches.size())
      parts[worker] = StepOn(learner(worker), batches[worker], now, step, worker);
  });
  for (const PartOfStep& part : parts) STOKER_RETURN_IF_ERROR(part.status);
  return MeanOf(parts);
}

void HogwildTeam::NameRows(const RowNames& names) {
  for (const std::unique_ptr<Learner>& other : others_) other->NameRows(names);
}

}  // namespace stoker
