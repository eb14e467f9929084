#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Every few steps writes statistics of the parameters and their gradients to tensors.jsonl in the
// run directory, one line a parameter:
//   {"step": 50, "name": "1.weight", "value": {...}, "gradient": {...}}
// each with mean, std (of the population), min, max, norm and not_finite, a count. An undefined
// figure is null. Gradients are those of the whole step, before clipping; without one there is no
// "gradient". A resumed run truncates the file, so that no step appears twice. Costs a pass over
// the matching parameters, and waits for the device.
struct LogTensors {
  static constexpr std::string_view kName = "log_tensors";
  static constexpr std::string_view kHelp =
      "Writes figures of parameters and gradients to tensors.jsonl.";
  int64_t every = 100;
  std::string match = "*";

  static void Describe(OptionTable<LogTensors>& table);
  Result<std::shared_ptr<Callback>> Build() const;
};

}  // namespace stoker
