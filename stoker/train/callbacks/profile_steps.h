#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Writes a profile of the steps from `first` to `last` to trace-FIRST-LAST.json in the run
// directory, in Chrome's trace format (chrome://tracing, ui.perfetto.dev): each step with its
// phases (waiting for data, forward and backward, update), and with `operators` torch's operators
// below them, each with the shapes of its inputs if `shapes` is on. Times are those of the training
// thread: on an accelerator an operator's time is that of its launch. Steps outside the range cost
// only the calls of the hooks.
struct ProfileSteps {
  static constexpr std::string_view kName = "profile_steps";
  static constexpr std::string_view kHelp = "Writes a timeline of some steps as a Chrome trace.";
  int64_t first = 10;
  int64_t last = 20;
  bool operators = true;
  bool shapes = false;

  static void Describe(OptionTable<ProfileSteps>& table);
  Result<std::shared_ptr<Callback>> Build() const;
};

}  // namespace stoker
