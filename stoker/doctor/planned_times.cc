#include "stoker/doctor/planned_times.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

constexpr double kMostGain = 100;

}  // namespace

double Sane(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

double GainOf(double total, double saved) {
  if (Sane(total) == 0 || Sane(saved) == 0) return 1;
  return saved * kMostGain >= total * (kMostGain - 1) ? kMostGain : total / (total - saved);
}

PlannedTimes PlannedTimesOf(const TrainingProfile& training) {
  const double steps = std::max<double>(0, static_cast<double>(training.total_steps));
  const double wait = std::min(Sane(training.wait_s), Sane(training.step_s));
  return {.startup = Sane(training.startup_s),
          .wait = steps * wait,
          .compute = steps * (Sane(training.step_s) - wait),
          .logging = steps * Sane(training.logging_s),
          .callbacks = steps * Sane(training.callbacks_s),
          .evaluation = Sane(training.evaluations) * Sane(training.evaluation_s),
          .checkpoint = Sane(training.checkpoints) * Sane(training.checkpoint_s),
          .gap = Sane(training.epochs - 1) * Sane(training.epoch_gap_s)};
}

double PlannedSamplesPerSecond(const TrainingProfile& training) {
  const double total = PlannedTimesOf(training).total();
  if (training.steps <= 0 || total <= 0) return 0;
  const double of_a_step =
      static_cast<double>(training.samples) / static_cast<double>(training.steps);
  return of_a_step * static_cast<double>(training.total_steps) / total;
}

}  // namespace stoker
