// HogwildTeam: threads that train one model at once, each by a batch of its own, and update the
// same weights without waiting for each other.
//
// Source: Niu et al., "HOGWILD!: A Lock-Free Approach to Parallelizing Stochastic Gradient
// Descent", arXiv 1106.5730. Where a row is in the batches of two threads, what one of them does to
// it can be lost, in the weights and in the optimizer's state: each copies the rows of its batch,
// updates the copies and writes them back (optimizers/grouped_optimizer_internal.h). That is rare
// where batches use few of many rows, and common for rows that most batches have. The numbers are
// plain floats, as in torch's own Hogwild example.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/base/worker_group.h"
#include "stoker/train/step/learner.h"

namespace stoker {

// One thread at a time.
class HogwildTeam {
 public:
  // Makes train.hogwild threads with a learner each, which shares its state with `leader`. Call it
  // once the leader's state is that of the first step. While it is made, the memory of the weights
  // and the optimizer's state is needed twice; torch's random state changes. Each thread computes
  // alone, without torch's others, and flushes denormals if the caller does.
  //   input, placement  as of `leader`, which outlives the team and makes no step of its own
  static Result<std::unique_ptr<HogwildTeam>> Create(const Recipe& recipe, const ModelInput& input,
                                                     const Placement& placement, Learner& leader);
  ~HogwildTeam();

  struct Outcome {
    at::Tensor loss;     // the mean over all samples; undefined if a batch has broken
    std::string broken;  // why a loss was not finite; empty: none
  };
  // Step number `step` of the run, from 1: each of `batches`, at most one a thread, goes forward
  // and back, and updates the weights. Errors: those of Learner, of the first batch that has one.
  // Then, and where a batch has broken, the others have updated the weights all the same.
  Result<Outcome> Step(std::span<const TensorBatch> batches, const ScheduleValue& now,
                       int64_t step);

  // Sets the names of samples in messages.
  void NameRows(const RowNames& names);

 private:
  explicit HogwildTeam(Learner& leader) : leader_(leader), steps_(leader.StepCounts()) {}
  Status StartThreads();
  void SetStepCounts();
  void AddStepCounts();
  void Work(size_t worker);
  void RunOnEach(const std::function<void(size_t worker)>& what);

  struct Worker {
    std::unique_ptr<Learner> learner;
    std::vector<at::Tensor> steps;  // its StepCounts
  };

  Learner& leader_;
  const std::vector<at::Tensor> steps_;  // of the leader: the updates of all
  std::vector<Worker> workers_;

  Mutex mutex_;
  CondVar begun_, done_;
  const std::function<void(size_t)>* what_ STOKER_GUARDED_BY(mutex_) = nullptr;  // of this round
  int64_t round_ STOKER_GUARDED_BY(mutex_) = 0;
  size_t at_work_ STOKER_GUARDED_BY(mutex_) = 0;  // threads that have not ended the round
  bool ended_ STOKER_GUARDED_BY(mutex_) = false;
  WorkerGroup threads_;  // last: joined before the other members are destroyed
};

}  // namespace stoker
