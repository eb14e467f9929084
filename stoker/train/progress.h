// Progress: how far a run has come, as far as it is neither weights nor a position in the data.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/train/evaluator.h"

namespace stoker {

struct Progress {
  int64_t step = 0;         // optimizer steps done
  int64_t closed_step = 0;  // the step whose end of epoch, evaluation included, is done
  std::optional<Evaluation> last_evaluation;
  double best_accuracy = 0;
  double train_seconds = 0;  // in steps, over all processes of the run
  int64_t train_samples = 0;

  Json ToJson() const;
  // Errors: kDataLoss where something is missing.
  static Result<Progress> FromJson(const Json& json);
};

}  // namespace stoker
