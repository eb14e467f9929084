#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Ends training after `step` steps of the run, as if that were the last: evaluates and writes the
// weights. Unlike max_steps it does not shorten the schedule. A run that is resumed without it ends
// with the weights of one that was never stopped: an evaluation or checkpoint caused only by the
// stop does not affect the schedule, early stopping and on_nonfinite: rollback.
struct StopAt {
  static constexpr std::string_view kName = "stop_at";
  static constexpr std::string_view kHelp =
      "Ends training after a step; schedules stay as they are.";
  int64_t step = 0;

  static void Describe(OptionTable<StopAt>& table);
  Result<std::shared_ptr<Callback>> Build() const;
};

}  // namespace stoker
