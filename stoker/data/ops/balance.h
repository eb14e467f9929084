#pragma once

#include <optional>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Class-balanced sampling: returns elements of every class equally often, independent of the
// class's size, in random order (at any place of an epoch two classes differ by at most one
// element). Uses all elements of a class before repeating one. Draws a new order each epoch. By
// position, so a saved position is one number.
//
// The input must be read by position, in the same order in every pass. The first pass makes every
// element once to learn its class (within its budget; its stop flag ends it), so put balance before
// costly stages; the table takes 8 bytes an element, outside the budget. The key of an element is
// its position in the output, so later random stages treat repeated elements differently each time.
struct Balance {
  static constexpr std::string_view kName = "balance";
  static constexpr std::string_view kHelp =
      "Draws every class equally often, in random order: over- and undersampling in one.";
  static constexpr bool kArranges = true;
  std::string field = "label";
  std::optional<int64_t> count;
  std::optional<int64_t> seed;

  static void Describe(OptionTable<Balance>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
