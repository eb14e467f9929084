#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Decreases when evaluations stop improving, as torch's ReduceLROnPlateau. An evaluation is better
// than the best so far, b, if
//   loss:      loss < b (1 - threshold), or loss < b - threshold with `absolute`
//   accuracy:  accuracy > b (1 + threshold), or accuracy > b + threshold with `absolute`
// After more than `patience` consecutive evaluations that are not better, the rate becomes max(rate
// * factor, min_lr), and the next `cooldown` evaluations do not count. Needs data.eval; the
// checkpoint stores its state.
struct PlateauSchedule {
  static constexpr std::string_view kName = "plateau";
  static constexpr std::string_view kHelp =
      "The learning rate sinks whenever evaluations stop getting better.";
  double lr = 0.001;
  std::string monitor = "loss";
  double factor = 0.1;
  int64_t patience = 3;
  double threshold = 1e-4;
  bool absolute = false;
  int64_t cooldown = 0;
  double min_lr = 0;

  static void Describe(OptionTable<PlateauSchedule>& table);
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
