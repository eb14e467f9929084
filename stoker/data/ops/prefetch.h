#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps elements ready ahead of the consumer, so that making them and using them overlap. Passes
// elements on unchanged.
//
// With `deterministic: false` an element is handed out as soon as it is finished, so one that takes
// long holds up no other: the same elements, each once, in an order that differs from run to run,
// and near the end of an epoch that is repeated some of the next may come first. Saving and
// restoring stay exact. It holds where prefetch is the last operator, or where only maps, other
// prefetches, repeat and batches that keep the remainder stand behind it; elsewhere the order is
// kept, since what follows depends on it. What costs time must stand straight in front of it: the
// maps there, or all of a pipeline that is read by position.
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
