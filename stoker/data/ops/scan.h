#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// Adds a field that is made of each element and of those that precede it in the epoch: a running
// total, the largest value so far, the change since the element before.
//
//   - scan: {field: sales, function: sum, to: sales_so_far}
//
// In C++ the state and the function may be any, as of tf.data's scan:
//
//   ... | Scan{.step = [](std::vector<double>& state, Element& element, Scratch& scratch) { ... },
//              .initial = {0, 1}, .output = spec}
//
// The function is called for each element of an epoch in order, by one thread, and changes state
// and element; it may return an error, which ends the pass. Numbers are computed as doubles, so
// integers beyond 2^53 are rounded. Read in order; the state is a part of a saved position, so
// resuming costs as much as for the input. Elements differ with the order of the input: after a
// shuffle in each epoch.
struct Scan {
  static constexpr std::string_view kName = "scan";
  static constexpr std::string_view kHelp =
      "Adds a field made of each element and those before it: a running sum, maximum, change, ...";
  static constexpr bool kArranges = false;
  std::string field = "x";
  std::string function = "sum";
  std::string to = "so_far";

  using Step =
      std::function<Status(std::vector<double>& state, Element& element, Scratch& scratch)>;
  Step step = {};                    // only in C++; if given, the options above say nothing
  std::vector<double> initial = {};  // the state at the begin of each epoch
  Spec output = {};                  // of the elements that `step` makes; empty: the input's

  static void Describe(OptionTable<Scan>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
