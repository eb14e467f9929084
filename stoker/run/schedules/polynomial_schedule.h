#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// lr * (a + (1 - a) (1 - t / N)^power), then lr * a, with a = final_fraction; N is the length in
// steps, the whole run if `epochs` is auto. With a = 0 as torch's PolynomialLR(total_iters = N).
// LARS was published with power 2 (arXiv 1708.03888).
struct PolynomialSchedule {
  static constexpr std::string_view kName = "polynomial";
  static constexpr std::string_view kHelp =
      "The learning rate sinks with a power of the steps that are left.";
  double lr = 0.003;
  double power = 2;
  double final_fraction = 0;
  std::optional<double> epochs;

  static void Describe(OptionTable<PolynomialSchedule>& table);
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
