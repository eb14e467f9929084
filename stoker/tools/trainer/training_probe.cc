#include "stoker/tools/trainer/training_probe.h"

#include <algorithm>

#include "stoker/base/clock.h"
#include "stoker/run/observer_list.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/temporary_directory.h"
#include "stoker/train/loop/trainer.h"

namespace stoker {
namespace {

// The shares of the time after which steps count, and until which the end of the first epoch is
// waited for.
constexpr double kWarmUp = 0.1, kMostOfFirstEpoch = 0.6;
// A first step may take this long, beyond the time to measure: it includes loading the data.
constexpr double kMostStartup = 120;

// A moment between two steps.
struct Moment {
  double at = 0;  // seconds since the start
  StepEvent step;
};

class Watcher final : public TrainObserver {
 public:
  Watcher(double seconds, StopTimer& timer) : seconds_(seconds), timer_(timer) {}

  void OnStart(const StartEvent& event) override { start_ = event; }

  void OnStep(const StepEvent& event) override {
    const Moment now{.at = watch_.ElapsedSeconds(), .step = event};
    if (steps_++ == 0) {
      first_ = begin_ = last_ = now;
      timer_.Set(seconds_);
      return;
    }
    if (closing_) NoteGap(now);
    last_ = now;
    const double since = now.at - first_.at;
    if (!warm_ && since >= kWarmUp * seconds_) {
      warm_ = true;
      begin_ = now;
    } else if (closing_ && epochs_ == 1 && since <= kMostOfFirstEpoch * seconds_) {
      warm_ = true;
      begin_ = now;
    }
    closing_ = false;
  }

  void OnEpoch(const EpochEvent&) override {
    ++epochs_;
    closing_ = true;
  }

  void Write(const Recipe& recipe, TrainingMeasurement& out) const {
    out.start = start_;
    if (steps_ == 0) return;
    TrainingProfile profile;
    WriteSteps(profile);
    const BesideSteps& beside = last_.step.beside;
    if (beside.evaluations > 0)
      profile.evaluation_s = beside.evaluation_seconds / static_cast<double>(beside.evaluations);
    if (beside.checkpoints > 0)
      profile.checkpoint_s = beside.checkpoint_seconds / static_cast<double>(beside.checkpoints);
    profile.epoch_gap_s = gaps_ > 0 ? gap_seconds_ / gaps_ : 0;
    profile.startup_s = std::max(0.0, first_.at - profile.step_s);
    WritePlan(recipe, profile);
    out.profile = profile;
  }

 private:
  // What lies between two epochs, without what is counted elsewhere.
  void NoteGap(const Moment& now) {
    const BesideSteps& a = last_.step.beside;
    const BesideSteps& b = now.step.beside;
    const double known = now.step.train_seconds - last_.step.train_seconds + b.evaluation_seconds -
                         a.evaluation_seconds + b.checkpoint_seconds - a.checkpoint_seconds +
                         b.logging_seconds - a.logging_seconds;
    gap_seconds_ += std::max(0.0, now.at - last_.at - known);
    ++gaps_;
  }

  void WriteSteps(TrainingProfile& out) const {
    // A run of one step, or of few that came at once, has no others.
    const bool one = last_.step.step <= begin_.step.step;
    const Moment begin = one ? Moment() : begin_;
    const auto steps = static_cast<double>(one ? steps_ : last_.step.step - begin.step.step);
    const BesideSteps& a = begin.step.beside;
    const BesideSteps& b = last_.step.beside;
    out.steps = static_cast<int64_t>(steps);
    out.samples = last_.step.train_samples - begin.step.train_samples;
    out.seconds = last_.at - begin.at;
    const double callbacks = b.callback_seconds - a.callback_seconds;
    out.callbacks_s = callbacks / steps;
    out.step_s =
        std::max(0.0, last_.step.train_seconds - begin.step.train_seconds - callbacks) / steps;
    out.wait_s = (last_.step.waited_seconds - begin.step.waited_seconds) / steps;
    out.logging_s = (b.logging_seconds - a.logging_seconds) / steps;
  }

  void WritePlan(const Recipe& recipe, TrainingProfile& out) const {
    const TrainRecipe& train = recipe.train;
    out.total_steps = start_.total_steps;
    out.steps_per_epoch = start_.steps_per_epoch;
    const auto steps = static_cast<double>(start_.total_steps);
    out.epochs = steps / static_cast<double>(std::max<int64_t>(1, start_.steps_per_epoch));
    if (recipe.data.eval) {
      const auto every = static_cast<double>(train.options.eval_every_steps.value_or(0));
      out.evaluations =
          std::max(1.0, every > 0 ? steps / every
                                  : out.epochs / static_cast<double>(train.options.eval_every));
    }
    out.checkpoints = std::max(1.0, out.epochs);
    if (train.checkpoint.every_steps)
      out.checkpoints += steps / static_cast<double>(*train.checkpoint.every_steps);
  }

  const double seconds_;
  StopTimer& timer_;
  const Stopwatch watch_;
  StartEvent start_;
  Moment first_, begin_, last_;  // the first step's end, where counting begins, the last step's end
  int64_t steps_ = 0, epochs_ = 0;
  bool warm_ = false;
  bool closing_ = false;  // an epoch has ended since the last step
  double gap_seconds_ = 0, gaps_ = 0;
};

}  // namespace

Status MeasureTraining(const Recipe& recipe, double seconds, StopTimer& timer,
                       TrainObserver* observer, TrainingMeasurement& out) {
  STOKER_ASSIGN_OR_RETURN(const TemporaryDirectory folder, TemporaryDirectory::Create("doctor"));
  Watcher watcher(seconds, timer);
  timer.Set(seconds + kMostStartup);
  STOKER_ASSIGN_OR_RETURN(const auto trainer, Trainer::Create(recipe, folder.path() / "run"));
  TrainObservers observers;
  observers.Add(&watcher);
  observers.Add(observer);
  const Status status = trainer->Run(&observers, timer.flag()).status();
  watcher.Write(recipe, out);
  if (status.ok() && !out.profile && !Interrupted())
    return Unavailable("the first step did not end within {:.0f} s", seconds + kMostStartup);
  return status;
}

}  // namespace stoker
