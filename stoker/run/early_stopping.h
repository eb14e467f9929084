// EarlyStopping: ends a run that no longer gets better.
//
//   train:
//     early_stopping: {metric: loss, patience: 3, min_delta: 0.001}
//
// After `patience` evaluations in a row that were not better, by more than min_delta, than the best
// so far, training ends as if it had come to its last step: what is written is what it is at then.
// The best stays as a checkpoint where `checkpoint: {best: ...}` asks for it.
#pragma once

#include <optional>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/run/monitor.h"
#include "stoker/run/recipe.h"

namespace stoker {

// One thread at a time.
class EarlyStopping {
 public:
  // Without a patience it never stops. Errors: those of Monitor.
  static Result<EarlyStopping> Create(const EarlyStoppingOptions& options,
                                      const std::vector<std::string>& measured);

  // Told of each evaluation once. Why training should end, where it should.
  std::optional<std::string> Observe(const Evaluation& evaluation);

  // The best figure and how many evaluations ago it was.
  Json Save() const;
  // Errors: kDataLoss where `state` is none of Save's. Null is the state at the start.
  Status Restore(const Json& state);

 private:
  EarlyStopping(const EarlyStoppingOptions& options, Monitor monitor)
      : options_(options), monitor_(std::move(monitor)) {}

  EarlyStoppingOptions options_;
  Monitor monitor_;
  std::optional<double> best_;
  int64_t since_best_ = 0;  // evaluations
};

}  // namespace stoker
