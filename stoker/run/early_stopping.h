// EarlyStopping: ends a run that no longer improves, or is good enough.
//
//   train:
//     early_stopping: {metric: loss, patience: 3, min_delta: 0.001}
//
// After `patience` consecutive evaluations that did not improve the best so far (at first
// `baseline`) by more than min_delta, or after one that reaches `goal`, training ends as if at its
// last step, and writes its current state. The best stays as a checkpoint if `checkpoint: {best:
// ...}` asks for it.
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
  // Without patience and goal it never stops. Errors: those of Monitor.
  static Result<EarlyStopping> Create(const EarlyStoppingOptions& options,
                                      const std::vector<MeasuredFigure>& measured);

  // Call it once for each evaluation. Returns why training should end; nothing if it should not.
  //   epoch  of the step before it, from 1
  std::optional<std::string> Observe(const Evaluation& evaluation, int64_t epoch);

  // Returns the best figure and how many evaluations ago it was.
  Json Save() const;
  // Restores a state of Save; null is the initial state. Errors: kDataLoss if `state` is malformed.
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
