#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// The parts of each element along its first dimension, one by one: fields of shape [n, ...] become
// [...]. Every field needs that dimension, and in each element all must agree in it. The opposite
// of `batch`: behind what works on batches alone (a vectorised function, mixup).
//
// Where the Spec says how large every batch is (`batch` with drop_remainder, or where the size
// divides the number of samples), sample i is part i % n of batch i / n, its key counts samples,
// and how many there are is known. Batches of at most 64 KiB are then read by position where the
// input is; what reads fewer samples at once makes a batch again each time (`shuffle` behind
// unbatch for every sample), so shuffle in front. Larger batches, and those whose size is not
// known, are read in order, each made once and on all threads: by position the chunks of one batch
// go to several threads, and each would make all of it again, or hold it between its chunks, beyond
// what the budget has admitted. Samples of batches of unknown size are numbered as they come. A
// saved position makes at most the one batch again that it stands in (held_input.h).
struct Unbatch {
  static constexpr std::string_view kName = "unbatch";
  static constexpr std::string_view kHelp =
      "Splits each element along its first dimension into its parts.";
  static constexpr bool kArranges = false;

  static void Describe(OptionTable<Unbatch>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
