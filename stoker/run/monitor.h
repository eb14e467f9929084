// Monitor: one figure of evaluations that decides something, and whether lower or higher is better.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/evaluation.h"
#include "stoker/run/registry.h"

namespace stoker {

// Immutable; concurrent calls are safe.
class Monitor {
 public:
  //   metric    loss, accuracy, or one of `measured`
  //   mode      min, max, or auto: the way that the metric gets better
  //   measured  what train.metrics measures (TrainRecipe::Figures)
  // Errors: kInvalidArgument for a metric that is not measured, with those that are.
  static Result<Monitor> Create(std::string metric, const std::string& mode,
                                const std::vector<MeasuredFigure>& measured);

  const std::string& metric() const { return metric_; }

  // Returns the figure; NaN if it is undefined, such as the AUC of one class or the accuracy of
  // numbers.
  double ValueIn(const Evaluation& evaluation) const;

  // Returns whether `value` is better than `than` by more than `margin`. NaN is never better; any
  // figure is better than NaN.
  bool IsBetter(double value, double than, double margin = 0) const;

 private:
  Monitor(std::string metric, bool lower) : metric_(std::move(metric)), lower_(lower) {}

  std::string metric_;
  bool lower_;  // is better
};

}  // namespace stoker
