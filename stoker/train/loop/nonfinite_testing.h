// Callbacks that make losses, gradients and weights not finite, and runs with them. Only tests
// include it.
#pragma once

#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/train/core/callback.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker {

// Puts NaNs into sample 3 of the batches of some steps.
class Poison : public Callback {
 public:
  explicit Poison(std::set<int64_t> steps) : steps_(std::move(steps)) {}
  Status OnBatch(RunView& run, const TensorBatch& batch) override {
    if (steps_.contains(run.step + 1)) batch.input.only()[3].fill_(NAN);
    return OkStatus();
  }

 private:
  std::set<int64_t> steps_;
};

// Makes a gradient infinite at some steps.
class PoisonGradient : public Callback {
 public:
  explicit PoisonGradient(std::set<int64_t> steps) : steps_(std::move(steps)) {}
  Status OnBackward(RunView& run) override {
    if (steps_.contains(run.step + 1)) {
      run.model.parameters()[0].mutable_grad().view(-1)[0] = INFINITY;
    }
    return OkStatus();
  }

 private:
  std::set<int64_t> steps_;
};

// Makes a weight NaN at some steps, just before the optimizer moves it.
class PoisonWeight : public Callback {
 public:
  explicit PoisonWeight(std::set<int64_t> steps) : steps_(std::move(steps)) {}
  Status OnBackward(RunView& run) override {
    if (steps_.contains(run.step + 1)) {
      run.model.parameters()[0].detach().view(-1)[0] = NAN;
    }
    return OkStatus();
  }

 private:
  std::set<int64_t> steps_;
};

class NonfiniteTest : public TrainerTest {
 protected:
  template <typename Kind = Poison>
  Result<TrainSummary> TrainPoisoned(const std::string& run, const std::set<int64_t>& steps,
                                     const std::vector<std::string>& set, bool resume = false,
                                     Watcher* watcher = nullptr) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer,
                            resume ? Trainer::Resume(std::move(recipe), problem_ / run)
                                   : Trainer::Create(std::move(recipe), problem_ / run));
    trainer->Add("poison", std::make_unique<Kind>(steps));
    return watcher == nullptr ? trainer->Run() : trainer->Run(watcher, &watcher->stop);
  }

  int runs_ = 0;
};

}  // namespace stoker
