#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps every `count`-th element of each epoch, from element `index` on: index, index + count, ...
// The shards 0..count-1 together are the whole input, and differ by at most one element. If
// the input is read by position, so is this, and elements of other shards are not computed. If the
// input is read in order, it makes these elements too, and they are dropped; maps that directly
// precede this operator are not applied to them.
//
// For the ranks of one training run use PassOptions::rank and world instead: they deal out batches,
// and a saved position continues with any number of ranks.
struct Shard {
  static constexpr std::string_view kName = "shard";
  static constexpr std::string_view kHelp =
      "Keeps every count-th element, from element index on: one of count equal parts.";
  static constexpr bool kArranges = true;
  int64_t count = 1;
  int64_t index = 0;

  static void Describe(OptionTable<Shard>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
