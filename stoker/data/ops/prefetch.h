#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps elements ready ahead of the consumer, so that producing and consuming them overlap. Does
// not change elements.
//
// With `deterministic: false` an element is output as soon as it is finished, so a slow one does
// not delay the others: the same elements, each once, in an order that differs from run to run;
// near the end of a repeated epoch, elements of the next one may come first. Saving and restoring
// stay exact. It applies if prefetch is the last operator, or only maps, other prefetches, repeat
// and batches that keep the remainder follow it; otherwise the order is kept, because later stages
// depend on it. It helps for the maps that directly precede it, or for a whole pipeline that is
// read by position.
struct Prefetch {
  static constexpr std::string_view kName = "prefetch";
  static constexpr std::string_view kHelp =
      "Keeps elements ready ahead of the consumer, within the memory budget.";
  static constexpr bool kArranges = true;
  std::optional<int64_t> depth;
  bool deterministic = true;

  static void Describe(OptionTable<Prefetch>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
