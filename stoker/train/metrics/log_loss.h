#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// The mean of -log p of the right class (of shares, that of each class by its share), p its
// probability by the loss; of labels, the mean over all labels of -log p where one holds and
// -log (1 - p) where not. p is kept 2^-23 from 0 and 1.
struct LogLoss {
  static constexpr std::string_view kName = "log_loss";
  static constexpr std::string_view kHelp =
      "Mean negative logarithm of the probability of what is right.";
  static constexpr Better kBetter = Better::kLower;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<LogLoss>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
