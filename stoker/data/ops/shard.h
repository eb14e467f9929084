#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Every `count`-th element of each epoch, from element `index` on: index, index + count, ... The
// shards 0..count-1 together are the whole input, and differ by at most one element. By position
// where the input is, and then nothing of the other shards is computed; in order, the input makes
// their elements too, and they are dropped; maps straight before it are not applied to them
// (rewrites/map_order.h).
//
// For the ranks of one training run PassOptions::rank and world are the better choice: they deal
// out batches instead, and a position saved with so many ranks continues with any other number.
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
