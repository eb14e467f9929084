#pragma once

#include <string>
#include <vector>

#include "stoker/data/options/pipelines.h"

namespace stoker {

// Mixes several pipelines in the proportion of weights: each element comes from one of them, those
// of an input in their order. Fields must agree in name, dtype and number of dimensions.
//
// The mixture consists of blocks (of 256 elements and more) in which each input has exactly its
// share, in an order that seed and epoch decide. `stop` says what ends it:
//   first_exhausted  the first input that is chosen and has no more elements
//   all_exhausted    the last input; until then the remaining ones keep their proportion
//   repeat           short inputs begin again, as a new epoch each time, until every one has been
//                    seen whole
//
// By position if all inputs are; the state is then one number. The order of a block takes at most 8
// bytes an element, not counted against the budget. In order each input is open all the time, and
// resuming costs as much as for them.
struct Mix {
  static constexpr std::string_view kName = "mix";
  static constexpr std::string_view kHelp =
      "Elements of several pipelines in the proportion of weights, in random order.";
  Pipelines inputs;
  std::vector<double> weights;
  std::string stop = "first_exhausted";

  static void Describe(OptionTable<Mix>& table);
  Result<Dataset> Build() const;
};

template <>
const std::vector<Option>& OptionsOf<Mix>();

}  // namespace stoker
