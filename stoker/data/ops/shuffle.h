#pragma once

#include "stoker/base/options.h"
#include "stoker/data/dataset.h"

namespace stoker {

// Every element once an epoch, in an order that is a function of seed and epoch: a permutation of
// positions computed on the fly (base/permutation.h), so memory and start-up cost nothing at any
// size. The input must be readable by position.
struct Shuffle {
  static constexpr std::string_view kName = "shuffle";
  static constexpr std::string_view kHelp =
      "Puts all elements into a new random order each epoch, exactly, without a buffer. The input "
      "must be readable by position.";
  std::optional<int64_t> seed;

  static void Describe(OptionTable<Shuffle>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
