#pragma once

#include <optional>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Class-balanced sampling: every class equally often, however many elements it has, in random order
// (two classes differ by at most one element anywhere in an epoch). A class goes through all its
// elements before one comes again. A new order each epoch; by position, so a saved position is one
// number.
//
// The input must be read by position, in the same order in every pass. When a pass is first opened
// every element is made once to learn its class (on the pass's threads, within its budget, and
// ended by its stop flag), so put balance before what is costly; the table takes 8 bytes an
// element, outside the budget. The key of an element is its position here, so
// what comes behind treats an element that comes twice differently each time.
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
