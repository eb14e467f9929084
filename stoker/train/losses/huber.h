#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Huber, "Robust estimation of a location parameter" (Annals of Mathematical Statistics, 1964): the
// mean over samples and scores of d^2 / 2 where |d| <= delta, otherwise of delta (|d| - delta / 2),
// d the score minus the target.
struct Huber {
  static constexpr std::string_view kName = "huber";
  static constexpr std::string_view kHelp = "Squared for small errors, absolute for large ones.";
  double delta = 1;

  static void Describe(OptionTable<Huber>& table);
  Result<std::shared_ptr<const Loss>> Build() const;
};

}  // namespace stoker
