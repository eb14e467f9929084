#include "stoker/doctor/run_profile.h"

#include <cmath>

namespace stoker {
namespace {

// JSON has no NaN and no infinity.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string_view NameOf(StageWork work) {
  switch (work) {
    case StageWork::kReads: return "reads";
    case StageWork::kDecodes: return "decodes";
    case StageWork::kChanges: return "changes";
    case StageWork::kArranges: break;
  }
  return "arranges";
}

Json ToJson(const StageTimes& stage) {
  return {{"name", stage.name},
          {"work", NameOf(stage.work)},
          {"elements", stage.elements},
          {"bytes", stage.bytes},
          {"busy_s", Number(stage.busy_s)},
          {"starved_s", Number(stage.starved_s)},
          {"blocked_s", Number(stage.blocked_s)},
          {"peak_memory_bytes", stage.peak_memory_bytes}};
}

Json ToJson(const InputProfile& input) {
  Json stages = Json::array();
  for (const StageTimes& stage : input.stages) stages.push_back(ToJson(stage));
  return {{"samples_per_s", Number(input.samples_per_s)},
          {"seconds", Number(input.seconds)},
          {"samples", input.samples},
          {"batches", input.batches},
          {"first_batch_s", Number(input.first_batch_s)},
          {"threads", input.threads},
          {"cpu_s", Number(input.cpu_s)},
          {"stages", std::move(stages)},
          {"limiting_stage", input.limiting_stage},
          {"why", input.why},
          {"limiting_work", NameOf(input.limiting_work)},
          {"on_servers", input.on_servers},
          {"many_files", input.many_files},
          {"on_consumer", input.on_consumer},
          {"idle", input.idle},
          {"lock_share", Number(input.lock_share)},
          {"disk_share", Number(input.disk_share)},
          {"slowest_share", Number(input.slowest_share)}};
}

Json ToJson(const StepProfile& step) {
  return {{"batch", step.batch},
          {"seconds", Number(step.seconds)},
          {"backward_s", Number(step.backward_s)},
          {"optimizer_s", Number(step.optimizer_s)},
          {"copy_s", Number(step.copy_s)},
          {"threads", step.threads}};
}

Json ToJson(const TrainingProfile& training) {
  return {{"steps", training.steps},
          {"samples", training.samples},
          {"seconds", Number(training.seconds)},
          {"step_s", Number(training.step_s)},
          {"wait_s", Number(training.wait_s)},
          {"logging_s", Number(training.logging_s)},
          {"callbacks_s", Number(training.callbacks_s)},
          {"startup_s", Number(training.startup_s)},
          {"evaluation_s", Number(training.evaluation_s)},
          {"checkpoint_s", Number(training.checkpoint_s)},
          {"epoch_gap_s", Number(training.epoch_gap_s)},
          {"total_steps", training.total_steps},
          {"steps_per_epoch", training.steps_per_epoch},
          {"evaluations", Number(training.evaluations)},
          {"checkpoints", Number(training.checkpoints)},
          {"epochs", Number(training.epochs)}};
}

Json ToJson(const Trial& trial) {
  return {{"change", trial.change.ToJson()},
          {"part", trial.part == TrialPart::kInput ? "input" : "step"},
          {"samples_per_s", Number(trial.samples_per_s)},
          {"before", Number(trial.before)},
          {"estimated", trial.estimated},
          {"error", trial.error}};
}

template <typename Part>
Json OrNull(const std::optional<Part>& part) {
  return part ? ToJson(*part) : Json();
}

}  // namespace

Json RunProfile::ToJson() const {
  Json tried = Json::array();
  for (const Trial& trial : trials) tried.push_back(stoker::ToJson(trial));
  return {{"schema", 1},
          {"rank", machine.rank},
          {"host", machine.host},
          {"recipe", recipe},
          {"seconds", Number(seconds)},
          {"cpus", machine.cpus},
          {"accelerator", machine.accelerator},
          {"other_runnable", Number(machine.other_runnable)},
          {"memory_budget", machine.memory_budget},
          {"input", OrNull(input)},
          {"step", OrNull(step)},
          {"training", OrNull(training)},
          {"trials", std::move(tried)},
          {"interrupted", interrupted},
          {"error", error.empty() ? Json() : Json(error)}};
}

}  // namespace stoker
