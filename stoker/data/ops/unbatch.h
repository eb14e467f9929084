#pragma once

#include "stoker/base/options.h"
#include "stoker/data/dataset.h"

namespace stoker {

// The parts of each element along its first dimension, one by one: fields of shape [n, ...] become
// [...]. Every field needs that dimension, and in each element all must agree in it. The opposite
// of `batch`: for what works on batches (a vectorised function, mixup) before samples are shuffled
// or batched anew.
//
// By position where the input is and the Spec says how large every batch is (`batch` with
// drop_remainder, or where the size divides the number of samples). Sample i is then part i % n of
// batch i / n, and its key counts samples. Reading samples in another order (shuffle behind
// unbatch) makes a batch for each sample, so shuffle in front of `batch`. Else it is read in order,
// and the samples are numbered as they come.
struct Unbatch {
  static constexpr std::string_view kName = "unbatch";
  static constexpr std::string_view kHelp =
      "Splits each element along its first dimension into its parts.";

  static void Describe(OptionTable<Unbatch>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
