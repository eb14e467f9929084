#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Adds a field that numbers the elements in their order: int64 scalars start, start + 1, ... in
// each epoch. By position if the input is. After `shuffle` the numbers are places in the shuffled
// order, before it they are the samples' own. Costs 8 bytes an element; resuming costs as much as
// for the input.
struct Enumerate {
  static constexpr std::string_view kName = "enumerate";
  static constexpr std::string_view kHelp =
      "Adds a field that numbers the elements in the order in which they pass.";
  static constexpr bool kArranges = false;
  std::string field = "index";
  int64_t start = 0;

  static void Describe(OptionTable<Enumerate>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
