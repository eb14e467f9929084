#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Repeats the input, each time as another epoch: with a new order and new random draws.
struct Repeat {
  static constexpr std::string_view kName = "repeat";
  static constexpr std::string_view kHelp =
      "Goes through the input several times, each time as a new epoch with its own order.";
  static constexpr bool kArranges = true;
  int64_t count = 0;

  static void Describe(OptionTable<Repeat>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
