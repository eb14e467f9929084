#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Ends training after `step` steps of the run, as if that were the last: it is evaluated and the
// weights are written. Unlike max_steps it leaves the schedule as long as it was. A run that is
// resumed without it ends with the weights of one that was never stopped: an evaluation or a
// checkpoint that only the stop brought counts neither for the schedule and early stopping nor for
// on_nonfinite: rollback.
struct StopAt {
  static constexpr std::string_view kName = "stop_at";
  static constexpr std::string_view kHelp =
      "Ends training after a step; schedules stay as they are.";
  int64_t step = 0;

  static void Describe(OptionTable<StopAt>& table);
  Result<std::shared_ptr<Callback>> Build() const;
};

}  // namespace stoker
