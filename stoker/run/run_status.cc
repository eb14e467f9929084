#include "stoker/run/run_status.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "stoker/base/host_name.h"
#include "stoker/base/json_file.h"
#include "stoker/base/worker_group.h"
#include "stoker/io/unflushed_file.h"
#include "stoker/run/starvation_advice.h"

namespace stoker {
namespace {

constexpr double kLookEverySeconds = 1;
constexpr double kWindowSeconds = 10;  // at least, once there are so many
// What a shorter time was spent on says little.
constexpr double kLeastSeconds = 0.2;

// Evaluations may be frequent and short, and each begins with a write.
constexpr double kLeastBetweenWrites = 0.1;

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

double CpuSeconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

PublishedProgress WhatStays(const RunStatus::Of& of) {
  PublishedProgress progress;
  progress.host = HostName();
  progress.pid = ::getpid();
  progress.device = of.device;
  progress.accelerator = of.accelerator;
  progress.cpus = AvailableCpus();
  progress.compute_threads = of.compute_threads;
  progress.total_steps = of.total_steps;
  progress.noun = of.noun;
  return progress;
}

}  // namespace

RunStatus::RunStatus(Of of) : of_(std::move(of)), fixed_(WhatStays(of_)) {
  last_.step = of_.first_step;
  now_.step = of_.first_step;
  Write();
}

void RunStatus::Stepped(const StepEvent& event) {
  last_ = event;
  now_ = {.step = event.step,
          .samples = event.train_samples,
          .seconds = event.train_seconds,
          .waited = event.waited_seconds};
  if (!any_) first_ = older_ = newer_ = now_;
  any_ = true;
  activity_ = RunActivity::kSteps;
  if (since_look_.ElapsedSeconds() >= kLookEverySeconds || event.step == of_.total_steps) Look();
}

void RunStatus::Begins(RunActivity activity) {
  activity_ = activity;
  if (since_write_.ElapsedSeconds() >= kLeastBetweenWrites) Write();
}

void RunStatus::Ends(const BesideSteps& beside) {
  last_.beside = beside;
  Write();
}

void RunStatus::Look() {
  since_look_ = Stopwatch();
  const double seconds = now_.seconds - older_.seconds;
  starved_ = StarvedBy(seconds, Share(now_.waited - older_.waited, seconds));
  Write();
  if (now_.seconds - newer_.seconds >= kWindowSeconds) older_ = std::exchange(newer_, now_);
}

double RunStatus::waited() const {
  return Share(now_.waited - first_.waited, now_.seconds - first_.seconds);
}

std::optional<Starvation> RunStatus::Overall() const {
  return StarvedBy(now_.seconds - first_.seconds, waited());
}

std::optional<Starvation> RunStatus::StarvedBy(double seconds, double waited) const {
  if (seconds < kLeastSeconds || waited < kStarvedFrom) return std::nullopt;
  return StarvationBy(of_.find_limit(), waited);
}

double RunStatus::SecondsLeft() const {
  // With few steps, those of the whole process: the first is better than nothing.
  const bool in_window = now_.step > older_.step;
  const auto steps = static_cast<double>(now_.step - (in_window ? older_.step : of_.first_step));
  const double seconds = now_.seconds - (in_window ? older_.seconds : 0);
  return Share(seconds, steps) * static_cast<double>(of_.total_steps - now_.step);
}

void RunStatus::AddRates(PublishedProgress& progress) const {
  const bool in_window = now_.step > older_.step;
  const Mark begin = in_window ? older_ : Mark{};
  progress.loss = last_.loss;
  progress.lr = last_.lr;
  progress.samples_per_s =
      Share(static_cast<double>(now_.samples - begin.samples), now_.seconds - begin.seconds);
  progress.seconds_left = SecondsLeft();
  progress.waited = Share(now_.waited - begin.waited, now_.seconds - begin.seconds);
  progress.starved = starved_;
}

PublishedWork RunStatus::Work() const {
  return {.seconds = since_begin_.ElapsedSeconds(),
          .steps = now_.step - of_.first_step,
          .samples = now_.samples,
          .step_s = now_.seconds,
          .waited_s = now_.waited,
          .cpu_s = CpuSeconds(),
          .evaluations = last_.beside.evaluations,
          .evaluation_s = last_.beside.evaluation_seconds,
          .checkpoints = last_.beside.checkpoints,
          .checkpoint_s = last_.beside.checkpoint_seconds,
          .logging_s = last_.beside.logging_seconds,
          .callback_s = last_.beside.callback_seconds};
}

PublishedInput RunStatus::Input() const {
  PublishedInput input;
  if (of_.get_profile) {
    const Profile profile = of_.get_profile();
    input.threads = profile.threads;
    for (const StageProfile& stage : profile.stages) {
      input.stages.push_back({.name = stage.name,
                              .work = of_.works.Of(stage.name),
                              .elements = stage.elements,
                              .bytes = stage.bytes,
                              .busy_s = stage.busy_s,
                              .starved_s = stage.starved_s,
                              .blocked_s = stage.blocked_s});
    }
  }
  if (!starved_) return input;
  const LimitingStage limit = of_.find_limit();
  input.limit = {.stage = limit.name,
                 .why = limit.why,
                 .work = limit.work == LimitingStage::Work::kReads ? StageWork::kReads
                                                                   : of_.works.Of(limit.name),
                 .on_servers = limit.on_servers,
                 .many_files = limit.many_files,
                 .on_consumer = limit.run_by == LimitingStage::RunBy::kConsumer,
                 .idle = limit.idle};
  return input;
}

void RunStatus::Write() {
  since_write_ = Stopwatch();
  if (of_.path.empty()) return;
  PublishedProgress progress = fixed_;
  progress.activity = activity_;
  progress.step = now_.step;
  progress.epoch = Share(static_cast<double>(now_.step), static_cast<double>(of_.steps_per_epoch));
  progress.train_seconds = of_.seconds_before + now_.seconds;
  progress.work = Work();
  if (any_) {
    AddRates(progress);
    progress.input = Input();
  }
  static_cast<void>(WriteFileUnflushed(of_.path, JsonFileText(progress.ToJson())));
}

}  // namespace stoker
