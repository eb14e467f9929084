#include "stoker/tools/trainer/train_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/tools/program/terminal.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr size_t kBarWidth = 24;
// Without a bar, a sign of life after so long without an epoch's end.
constexpr double kLineSeconds = 10;

}  // namespace

void TrainProgress::Print(const std::string& line) {
  if (options_.quiet) return;
  status_.PrintAbove(options_.lines, line);
  since_line_ = Stopwatch();
}

int64_t TrainProgress::total_epochs() const {
  if (start_.steps_per_epoch <= 0) return 0;
  return (start_.total_steps + start_.steps_per_epoch - 1) / start_.steps_per_epoch;
}

void TrainProgress::OnStart(const StartEvent& event) {
  start_ = event;
  for (const std::string& warning : event.warnings) {
    LogWarning("{}", warning);
  }
  Print(fmt::format("run    {}", Printable(event.run)));
  Print(fmt::format("model  {}, {} parameters, on {}", event.model,
                    WithThousands(static_cast<double>(event.parameters)), event.device));
  if (!event.initial_weights.empty()) Print("begin  " + Printable(event.initial_weights));
  Print(fmt::format("using  {} ({})", event.choices.ToString(), event.tuning.reason));
  if (!event.tuning.trials.empty()) {
    std::string table = event.tuning.ToText();
    table.erase(table.find_last_not_of('\n') + 1);
    if (!table.empty()) Print(table);
  }
  if (event.first_step > 0) {
    Print(fmt::format("resumed after step {} of {}", event.first_step, event.total_steps));
  }
  options_.before_first_step();
}

std::string TrainProgress::EtaText() const {
  const int64_t done_here = last_step_.step - start_.first_step;
  if (done_here <= 0) return "eta ?";
  const double step_seconds = last_step_.train_seconds / static_cast<double>(done_here);
  return "eta " +
         DurationText(step_seconds * static_cast<double>(start_.total_steps - last_step_.step));
}

std::string TrainProgress::StepText(const StepEvent& event) const {
  const double images_per_s = event.train_seconds > 0
                                  ? static_cast<double>(event.train_samples) / event.train_seconds
                                  : 0.0;
  const std::string waits = event.starved == nullptr ? "" : "  " + event.starved->Brief();
  std::string ranks = event.ranks == nullptr ? "" : event.ranks->Brief();
  if (!ranks.empty()) ranks = "  " + ranks;
  return fmt::format("loss {:.4f}  {} {}s/s  {}{}{}", event.loss, WithThousands(images_per_s),
                     start_.noun, EtaText(), waits, ranks);
}

// Once: the lines that follow name the share and the stage.
void TrainProgress::PrintStarvation(const Starvation& starved) {
  told_of_starvation_ = true;
  Print(fmt::format("data   {}\n       try: {}", starved.Sentence(), starved.advice));
}

void TrainProgress::OnStep(const StepEvent& event) {
  FlushEvaluation();
  if (event.starved != nullptr && !told_of_starvation_) PrintStarvation(*event.starved);
  last_step_ = event;
  last_step_.starved = nullptr;
  last_step_.ranks = nullptr;
  epoch_loss_.Add(event.loss);
  if (status_.IsDue()) {
    const double share = static_cast<double>(event.step) /
                         static_cast<double>(std::max<int64_t>(1, start_.total_steps));
    const int64_t epoch =
        start_.steps_per_epoch > 0 ? (event.step - 1) / start_.steps_per_epoch + 1 : 1;
    status_.Draw(fmt::format("epoch {}/{} [{}] {:3.0f}%  {}", epoch, total_epochs(),
                             BarText(share, kBarWidth), 100 * share, StepText(event)));
  } else if (!status_.shown() && since_line_.ElapsedSeconds() >= kLineSeconds) {
    Print(fmt::format("step {}/{}  {}", event.step, start_.total_steps, StepText(event)));
  }
}

void TrainProgress::OnEvaluate(const EvaluateEvent& event) {
  FlushEvaluation();
  const std::optional<double> accuracy = event.evaluation.accuracy;
  evaluated_ = fmt::format("  test loss {:.4f}{}{}", event.evaluation.loss,
                           accuracy ? fmt::format("  accuracy {:.4f}", *accuracy) : "",
                           event.best ? " (best)" : "");
}

// A resumed run knows the losses of its own steps alone.
std::string TrainProgress::EpochText(const EpochEvent& event) const {
  const int64_t seen = epoch_loss_.count();
  if (seen == 0) return "its steps were made before this run was resumed";
  const int64_t all = event.step - (event.epoch - 1) * start_.steps_per_epoch;
  const std::string part = seen < all ? fmt::format(" (its last {} steps)", seen) : "";
  return fmt::format("loss {:.4f}{}  {} {}s/s", epoch_loss_.mean(), part,
                     WithThousands(event.images_per_s), start_.noun);
}

void TrainProgress::OnEpoch(const EpochEvent& event) {
  Print(fmt::format("epoch {}/{}  {}  {}{}", event.epoch, total_epochs(), EpochText(event),
                    EtaText(), evaluated_));
  evaluated_.clear();
  epoch_loss_ = RunningStats();
}

void TrainProgress::FlushEvaluation() {
  if (evaluated_.empty()) return;
  Print(fmt::format("step {}/{}{}", last_step_.step, start_.total_steps, evaluated_));
  evaluated_.clear();
}

void TrainProgress::Finish() {
  FlushEvaluation();
  status_.Clear();
}

}  // namespace stoker
