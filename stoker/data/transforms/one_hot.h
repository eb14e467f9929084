#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Turns class numbers 0..classes-1 into distributions over the classes: an integer field of shape
// [...] becomes float32 [..., classes], so it works before and after `batch`. The class gets 1 -
// smoothing + smoothing / classes, every other smoothing / classes, each rounded once from double
// (label smoothing: Szegedy et al., "Rethinking the Inception architecture", 2016).
//
// Errors: a number outside 0..classes-1 names the element and the number.
struct OneHot {
  static constexpr std::string_view kName = "one_hot";
  static constexpr std::string_view kHelp =
      "Turns class numbers into float32 distributions over the classes, smoothed or not.";
  static constexpr bool kArranges = false;
  int64_t classes = 0;
  double smoothing = 0;
  std::string field = "label";

  static void Describe(OptionTable<OneHot>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
