#include "stoker/run/run_status.h"

#include <utility>

#include "stoker/base/json.h"
#include "stoker/base/json_file.h"
#include "stoker/io/unflushed_file.h"
#include "stoker/run/starvation_advice.h"

namespace stoker {
namespace {

constexpr double kLookEverySeconds = 1;
constexpr double kWindowSeconds = 10;  // at least, once there are so many
// What a shorter time was spent on says little.
constexpr double kLeastSeconds = 0.2;

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

RunStatus::RunStatus(Of of) : of_(std::move(of)) {
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
  if (since_look_.ElapsedSeconds() >= kLookEverySeconds || event.step == of_.total_steps) Look();
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

void RunStatus::Write() const {
  Json json = {
      {"step", now_.step},
      {"total_steps", of_.total_steps},
      {"epoch", Share(static_cast<double>(now_.step), static_cast<double>(of_.steps_per_epoch))},
      {"samples_are", of_.noun},
      {"train_seconds", of_.seconds_before + now_.seconds}};
  if (any_) {
    const bool in_window = now_.step > older_.step;
    const Mark begin = in_window ? older_ : Mark{};
    json["loss"] = last_.loss;
    json["lr"] = last_.lr;
    json["samples_per_s"] =
        Share(static_cast<double>(now_.samples - begin.samples), now_.seconds - begin.seconds);
    json["seconds_left"] = SecondsLeft();
    json["waited"] = Share(now_.waited - begin.waited, now_.seconds - begin.seconds);
    json["starved"] = starved_ ? starved_->ToJson() : Json();
  }
  static_cast<void>(WriteFileUnflushed(of_.path, JsonFileText(json)));
}

}  // namespace stoker
