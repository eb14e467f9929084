#pragma once

#include <optional>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns every element once an epoch, in an order that is a function of seed and epoch.
//
// An input that is read by position is shuffled exactly, by a permutation (base/permutation.h):
// stored for up to 65,536 elements, computed for more. The state of a pass is one number. With
// `window` the order is random only within `window` elements at a time, which are pages of `page`
// consecutive elements in random order: for data larger than memory, which a disk then reads page
// by page.
//
// An input that can only be read in order goes through a buffer of `buffer` elements: each draw
// outputs one of them, and the next element of the input replaces it. A pass first fills the
// buffer. It counts against the memory budget; a buffer that exceeds it is refused when the pass is
// opened, or, if the Spec has unknown extents, when its elements exceed it (ResourceExhausted). A
// saved position has the number of draws, which determines the elements in the buffer, and
//   * if the input can make elements again from their keys (DatasetNode::rereadable): the keys,
//     about 2 to 8 bytes an element. Restoring reads only those elements again;
//   * else: a state of the input from before the oldest element held. Restoring reads from there,
//     on average buffer x ln(buffer) elements, after restoring the input.
struct Shuffle {
  static constexpr std::string_view kName = "shuffle";
  static constexpr std::string_view kHelp =
      "Puts the elements into a new random order each epoch: exactly and without a buffer where "
      "the input is readable by position, else through a buffer.";
  static constexpr bool kArranges = true;
  std::optional<int64_t> seed;
  std::optional<int64_t> buffer;
  std::optional<int64_t> window;
  std::optional<int64_t> page;
  bool reshuffle = true;

  static void Describe(OptionTable<Shuffle>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
