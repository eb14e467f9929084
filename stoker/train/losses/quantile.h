#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Koenker and Bassett, "Regression quantiles" (Econometrica, 1978): the mean over samples, numbers
// and quantiles q of q d where d >= 0, otherwise of (q - 1) d, d the target minus the score. The
// model has an output for each quantile of each number, those of a number side by side, in the
// order of `at`. Metrics take the quantile nearest to the median.
struct Quantile {
  static constexpr std::string_view kName = "quantile";
  static constexpr std::string_view kHelp = "The pinball loss of quantiles: an output for each.";
  std::vector<double> at = {0.5};

  static void Describe(OptionTable<Quantile>& table);
  Result<std::shared_ptr<const Loss>> Build() const;
};

}  // namespace stoker
