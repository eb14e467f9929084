#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Guo et al., "On calibration of modern neural networks" (arXiv 1706.04599): samples are put by the
// probability of the predicted class into bins of equal width; the mean over samples of how far the
// share of right answers in their bin lies from the mean probability there. Of labels, the
// probability of each label and how often it holds. Beside it, of each bin: samples, probability,
// right.
struct CalibrationError {
  static constexpr std::string_view kName = "calibration_error";
  static constexpr std::string_view kHelp =
      "How far probabilities lie from how often they are right.";
  static constexpr Better kBetter = Better::kLower;
  static bool Measures(TargetKind kind);
  int64_t bins = 15;

  static void Describe(OptionTable<CalibrationError>& table);
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
