#pragma once

#include <optional>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Every element once an epoch, in an order that is a function of seed and epoch.
//
// An input that is read by position is shuffled exactly, by a permutation (base/permutation.h): up
// to 65,536 elements one that is stored for each epoch, above a computed one. The state of a pass
// is one number. With `window` the order is random only within `window` elements at a time,
// made of pages of `page` consecutive elements that come in random order: for data larger than
// memory, which a disk then reads forward, page by page.
//
// An input that can only be read in order goes through a buffer of `buffer` elements: each draw
// hands out one of them, and the next element of the input takes its place. Beginning a pass reads
// as many. They count against the memory budget; a buffer that exceeds it is refused: when the pass
// is opened, or, where the Spec does not tell, when the elements that it holds turn out to
// (ResourceExhausted). What is saved is the number of draws, from which follows which elements
// the buffer holds, and
//   * where the input can make elements again from their keys (DatasetNode::rereadable): the keys,
//     about 2 to 8 bytes an element. Restoring reads those elements again, and no others;
//   * else: a state of the input from before the oldest element held. Restoring reads again from
//     there, on average buffer x ln(buffer) elements, and what it costs the input to get there.
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
