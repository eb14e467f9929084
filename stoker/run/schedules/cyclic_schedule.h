#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Smith, "Cyclical learning rates" (arXiv 1506.01186), with the semantics of torch's CyclicLR: up
// from base_lr to max_lr in a straight line in `up` epochs, down again in `down`, for ever. The
// height above base_lr, (max_lr - base_lr) * scale, has by mode
//   triangular   scale = 1
//   triangular2  scale = 1 / 2^c in cycle c = 0, 1, ...
//   exp_range    scale = gamma^t at step t
// Momentum goes the other way, from max_momentum down to base_momentum, with the same scale.
struct CyclicSchedule {
  static constexpr std::string_view kName = "cyclic";
  static constexpr std::string_view kHelp =
      "The learning rate rises and sinks again and again; momentum does the opposite.";
  double base_lr = 0.0003;
  double max_lr = 0.003;
  double up = 2;
  std::optional<double> down;
  std::string mode = "triangular";
  double gamma = 0.9999;
  bool cycle_momentum = true;
  double base_momentum = 0.8;
  double max_momentum = 0.9;

  static void Describe(OptionTable<CyclicSchedule>& table);
  // Errors: a base above its maximum.
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
