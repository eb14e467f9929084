#include "stoker/doctor/run_profile.h"

#include <cmath>

#include "stoker/base/json_or_null.h"

namespace stoker {
namespace {

Json ToJson(const StageTimes& stage) {
  return {{"name", stage.name},
          {"work", NameOf(stage.work)},
          {"elements", stage.elements},
          {"bytes", stage.bytes},
          {"busy_s", FiniteOrNull(stage.busy_s)},
          {"starved_s", FiniteOrNull(stage.starved_s)},
          {"blocked_s", FiniteOrNull(stage.blocked_s)},
          {"peak_memory_bytes", stage.peak_memory_bytes}};
}

Json ToJson(const InputProfile& input) {
  Json stages = Json::array();
  for (const StageTimes& stage : input.stages) stages.push_back(ToJson(stage));
  return {{"samples_per_s", FiniteOrNull(input.samples_per_s)},
          {"seconds", FiniteOrNull(input.seconds)},
          {"samples", input.samples},
          {"batches", input.batches},
          {"first_batch_s", FiniteOrNull(input.first_batch_s)},
          {"threads", input.threads},
          {"cpu_s", FiniteOrNull(input.cpu_s)},
          {"stages", std::move(stages)},
          {"limiting_stage", input.limiting_stage},
          {"why", input.why},
          {"limiting_work", NameOf(input.limiting_work)},
          {"on_servers", input.on_servers},
          {"many_files", input.many_files},
          {"on_consumer", input.on_consumer},
          {"idle", input.idle},
          {"lock_share", FiniteOrNull(input.lock_share)},
          {"disk_share", FiniteOrNull(input.disk_share)},
          {"slowest_share", FiniteOrNull(input.slowest_share)}};
}

Json ToJson(const StepProfile& step) {
  return {{"batch", step.batch},
          {"seconds", FiniteOrNull(step.seconds)},
          {"backward_s", FiniteOrNull(step.backward_s)},
          {"optimizer_s", FiniteOrNull(step.optimizer_s)},
          {"copy_s", FiniteOrNull(step.copy_s)},
          {"threads", step.threads}};
}

Json ToJson(const TrainingProfile& training) {
  return {{"steps", training.steps},
          {"samples", training.samples},
          {"seconds", FiniteOrNull(training.seconds)},
          {"step_s", FiniteOrNull(training.step_s)},
          {"wait_s", FiniteOrNull(training.wait_s)},
          {"logging_s", FiniteOrNull(training.logging_s)},
          {"callbacks_s", FiniteOrNull(training.callbacks_s)},
          {"startup_s", FiniteOrNull(training.startup_s)},
          {"evaluation_s", FiniteOrNull(training.evaluation_s)},
          {"checkpoint_s", FiniteOrNull(training.checkpoint_s)},
          {"epoch_gap_s", FiniteOrNull(training.epoch_gap_s)},
          {"total_steps", training.total_steps},
          {"steps_per_epoch", training.steps_per_epoch},
          {"evaluations", FiniteOrNull(training.evaluations)},
          {"checkpoints", FiniteOrNull(training.checkpoints)},
          {"epochs", FiniteOrNull(training.epochs)}};
}

Json ToJson(const MachineRoofs& roofs) {
  return {{"read_bytes_per_s", FiniteOrNull(roofs.read_bytes_per_s)},
          {"pictures_per_s", FiniteOrNull(roofs.pictures_per_s)}};
}

Json ToJson(const Trial& trial) {
  return {{"change", trial.change.ToJson()},
          {"part", trial.part == TrialPart::kInput ? "input" : "step"},
          {"samples_per_s", FiniteOrNull(trial.samples_per_s)},
          {"before", FiniteOrNull(trial.before)},
          {"estimated", trial.estimated},
          {"error", trial.error}};
}

template <typename Part>
Json PartOrNull(const std::optional<Part>& part) {
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
          {"seconds", FiniteOrNull(seconds)},
          {"cpus", machine.cpus},
          {"accelerator", machine.accelerator},
          {"other_runnable", FiniteOrNull(machine.other_runnable)},
          {"memory_budget", machine.memory_budget},
          {"roofs", PartOrNull(machine.roofs)},
          {"input", PartOrNull(input)},
          {"step", PartOrNull(step)},
          {"training", PartOrNull(training)},
          {"trials", std::move(tried)},
          {"interrupted", interrupted},
          {"error", error.empty() ? Json() : Json(error)}};
}

}  // namespace stoker
