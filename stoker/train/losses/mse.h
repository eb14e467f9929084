#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// The mean of (score - wanted)^2 over samples and scores. For floating-point targets, one number
// for each score, wanted is the target itself: a regression. For class numbers it is 1 for the
// target's class and 0 for others (Hui and Belkin, arXiv 2006.07322); if the model gives one score
// a sample, it is the number itself: a regression on whole numbers.
struct Mse {
  static constexpr std::string_view kName = "mse";
  static constexpr std::string_view kHelp = "The mean squared error.";

  static void Describe(OptionTable<Mse>& table);
  Result<std::shared_ptr<const Loss>> Build() const;
};

}  // namespace stoker
