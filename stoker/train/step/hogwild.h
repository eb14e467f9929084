// HogwildTeam: threads that train one model at once, each by a batch of its own, and update the
// same weights without waiting for each other.
//
// Source: Niu et al., "HOGWILD!: A Lock-Free Approach to Parallelizing Stochastic Gradient
// Descent", arXiv 1106.5730. Where two threads write a number at the same time, one of both results
// stays; where a batch uses few of many rows, that is rare. As in torch's own Hogwild example, the
// numbers are plain floats, read and written whole.
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
  // and the optimizer's state is needed twice. Each thread computes alone, without torch's others.
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
  explicit HogwildTeam(Learner& leader) : leader_(leader) {}
  Learner& learner(size_t worker) { return worker == 0 ? leader_ : *others_[worker - 1]; }
  Status StartThreads();
  void Work(size_t worker);
  void RunOnEach(const std::function<void(size_t worker)>& what);

  Learner& leader_;
  std::vector<std::unique_ptr<Learner>> others_;

  Mutex mutex_;
  CondVar begun_, done_;
  const std::function<void(size_t)>* what_ STOKER_GUARDED_BY(mutex_) = nullptr;  // of this round
  int64_t round_ STOKER_GUARDED_BY(mutex_) = 0;
  size_t at_work_ STOKER_GUARDED_BY(mutex_) = 0;  // threads that have not ended the round
  bool ended_ STOKER_GUARDED_BY(mutex_) = false;
  WorkerGroup threads_;  // last: joined before the other members are destroyed
};

}  // namespace stoker
