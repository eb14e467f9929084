// Progress: the progress of a run except weights and the position in the data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/run/evaluation.h"

namespace stoker {

struct Progress {
  int64_t step = 0;         // optimizer steps done
  int64_t closed_step = 0;  // the step whose end of epoch, evaluation included, is done
  std::optional<Evaluation> last_evaluation;
  std::optional<double> best_accuracy;  // nothing if no evaluation had one
  std::optional<double> best_loss;      // of evaluations
  int64_t evaluated_step = 0;           // the newest step evaluated
  std::optional<double> best_value;     // of checkpoint.best
  int64_t best_step = -1;               // step of best_value; -1: none
  int64_t planned_checkpoint = -1;      // step of the last planned one; -1: none
  int64_t skipped = 0;                  // steps skipped because a loss or gradient was not finite
  int64_t skipped_in_row = 0;
  int64_t rollbacks = 0;
  std::string ended;         // why training ended before its last step; empty: it has not
  double train_seconds = 0;  // in steps, over all processes of the run
  int64_t train_samples = 0;

  Json ToJson() const;
  // Errors: kDataLoss if a member is missing.
  static Result<Progress> FromJson(const Json& json);
};

}  // namespace stoker
