#include "stoker/tools/top/top_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/doctor/diagnose.h"

namespace stoker {
namespace {

double Each(double sum, int64_t count) { return count > 0 ? sum / static_cast<double>(count) : 0; }

TrainingProfile TrainingOf(const RunWindow& window) {
  const PublishedWork& work = window.work;
  // Callbacks that belong to a step are part of its time (run/observer.h).
  const double steps = std::max(0.0, work.step_s - work.callback_s);
  TrainingProfile training;
  training.steps = work.steps;
  training.samples = work.samples;
  training.seconds = window.seconds;
  training.step_s = Each(steps, work.steps);
  training.wait_s = Each(work.waited_s, work.steps);
  training.logging_s = Each(work.logging_s, work.steps);
  training.callbacks_s = Each(work.callback_s, work.steps);
  training.evaluation_s = Each(work.evaluation_s, work.evaluations);
  training.checkpoint_s = Each(work.checkpoint_s, work.checkpoints);
  training.total_steps = training.steps_per_epoch = work.steps;
  training.evaluations = static_cast<double>(work.evaluations);
  training.checkpoints = static_cast<double>(work.checkpoints);
  training.epochs = 1;
  return training;
}

// The pipeline's own part of the CPU time is what steps leave of it.
double CpuOfInput(const RunWindow& window, const PublishedProgress& progress) {
  const double computing = std::max(0.0, window.work.step_s - window.work.waited_s);
  const auto threads = static_cast<double>(progress.accelerator ? 1 : progress.compute_threads);
  return std::max(0.0, window.work.cpu_s - computing * threads);
}

InputProfile InputOf(const RunWindow& window, const PublishedProgress& progress) {
  InputProfile input;
  input.seconds = window.seconds;
  input.samples = window.work.samples;
  input.threads = progress.input->threads;
  input.cpu_s = CpuOfInput(window, progress);
  for (const PublishedStage& stage : window.stages) {
    input.stages.push_back({.name = stage.name,
                            .work = stage.work,
                            .elements = stage.elements,
                            .bytes = stage.bytes,
                            .busy_s = stage.busy_s,
                            .starved_s = stage.starved_s,
                            .blocked_s = stage.blocked_s});
  }
  if (!progress.input->limit) return input;
  const PublishedLimit& limit = *progress.input->limit;
  input.limiting_stage = limit.stage;
  input.why = limit.why;
  input.limiting_work = limit.work;
  input.on_servers = limit.on_servers;
  input.many_files = limit.many_files;
  input.on_consumer = limit.on_consumer;
  input.idle = limit.idle;
  return input;
}

bool IsAboutInput(Verdict verdict) {
  switch (verdict) {
    case Verdict::kStorage:
    case Verdict::kNetwork:
    case Verdict::kDecode:
    case Verdict::kAugmentation:
    case Verdict::kSmallRecords:
    case Verdict::kUnknown: return true;
    default: return false;
  }
}

}  // namespace

RunProfile ProfileOf(const RunWindow& window, const PublishedProgress& progress,
                     const RecipeFacts& facts) {
  RunProfile profile;
  profile.seconds = window.seconds;
  profile.machine.host = progress.host;
  profile.machine.rank = progress.rank;
  profile.machine.cpus = progress.cpus;
  profile.machine.accelerator = progress.accelerator;
  profile.facts = facts;
  profile.facts.has_model = true;
  profile.training = TrainingOf(window);
  if (progress.input) profile.input = InputOf(window, progress);
  return profile;
}

std::optional<Diagnosis> VerdictOfRun(const TopHistory& history, const RecipeFacts& facts) {
  const std::optional<RunWindow> window = RunWindowOf(history);
  if (!window || window->work.steps == 0) return std::nullopt;
  return Diagnose(ProfileOf(*window, *history.now().progress, facts));
}

std::string AdviceFor(const Diagnosis& verdict, const std::optional<Starvation>& starved) {
  if (IsAboutInput(verdict.verdict) && starved) return starved->advice;
  return verdict.prescriptions.empty() ? "" : verdict.prescriptions.front().text;
}

std::string VerdictText(const Diagnosis& verdict) {
  if (verdict.verdict == Verdict::kNone) return "none: nothing that is seen is worth a change";
  std::string text = fmt::format("{}: {}", NameOf(verdict.verdict), verdict.Sentence());
  if (!verdict.why.empty()) text += " Why: " + verdict.why;
  return text;
}

}  // namespace stoker
