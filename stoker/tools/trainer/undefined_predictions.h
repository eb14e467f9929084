// Says that predictions or a loss are no numbers, which a table of answers does not show.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "stoker/train/predict/predictor.h"

namespace stoker {

// Counts the predictions that are NaN or infinite; one thread at a time.
class UndefinedPredictions {
 public:
  //   name  returns that of the sample, such as "a.png[3]"; called for the first alone
  void Look(const Prediction& prediction, const std::function<std::string()>& name);

  // Logs one warning where any was seen.
  void Warn() const;

 private:
  int64_t seen_ = 0;
  int64_t undefined_ = 0;
  std::string first_;
};

// Logs a warning if the loss of an evaluation is NaN or infinite.
void WarnOfUndefinedLoss(double loss);

}  // namespace stoker
