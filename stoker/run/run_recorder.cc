#include "stoker/run/run_recorder.h"

namespace stoker {
namespace {

TrainObserver& Nobody() {
  static TrainObserver nobody;
  return nobody;
}

}  // namespace

Result<std::unique_ptr<RunRecorder>> RunRecorder::Open(RunDirectory& run, TrainObserver* observer) {
  MetricsFile metrics = MetricsFile::Nowhere();
  if (!run.nowhere()) {
    STOKER_ASSIGN_OR_RETURN(metrics, MetricsFile::Open(run.paths().metrics()));
  }
  return std::unique_ptr<RunRecorder>(
      new RunRecorder(run, observer == nullptr ? Nobody() : *observer, std::move(metrics)));
}

Status RunRecorder::OpenTensorboard(const ConfigNode& recipe, std::optional<int64_t> done,
                                    bool has_accuracy) {
  STOKER_ASSIGN_OR_RETURN(
      tensorboard_, TensorboardLog::Open(run_.paths().root.string(), recipe, done, has_accuracy));
  return OkStatus();
}

void RunRecorder::Started(const StartEvent& event) {
  run_.Log(fmt::format("{} at step {} of {}: {} with {} parameters on {}, {}",
                       event.first_step == 0 ? "starting" : "resuming", event.first_step,
                       event.total_steps, event.model, event.parameters, event.device,
                       event.choices.ToString()));
  if (!event.initial_weights.empty()) run_.Log(event.initial_weights);
  for (const TuneTrial& trial : event.tuning.trials) {
    if (trial.step_ms <= 0) {
      run_.Log(fmt::format("{}: {}", trial.change, trial.verdict));
      continue;
    }
    // The first was compared with nothing.
    const std::string gain =
        trial.gain > 0 ? fmt::format(", {:.2f} times as fast as the best before", trial.gain) : "";
    run_.Log(fmt::format("tried {}: {:.2f} ms a step{}; {}", trial.change, trial.step_ms, gain,
                         trial.verdict));
  }
  if (!event.tuning.reason.empty()) run_.Log("choices: " + event.tuning.reason);
  for (const std::string& warning : event.warnings) run_.Log("warning: " + warning);
  observer_.OnStart(event);
}

Status RunRecorder::Logged(const TrainLine& line) {
  // What callbacks measure comes first: a name that is ours stays ours.
  Json json = Json(line.figures);
  json.update({{"kind", "train"},
               {"step", line.step},
               {"epoch", line.epoch},
               {"loss", line.loss},
               {"lr", line.schedule.lr},
               {"images_per_s", line.images_per_s},
               {"waited", line.waited},
               {"train_seconds", line.train_seconds}});
  if (line.schedule.momentum) json["momentum"] = *line.schedule.momentum;
  if (line.scaling) {
    json["loss_scale"] = line.scaling->scale;
    json["skipped_steps"] = line.scaling->skipped;
  }
  if (line.ranks) {
    json["waited_for_ranks"] = line.ranks->waited;
    json["exchanged"] = line.ranks->exchanged;
    json["slowest_rank"] = line.ranks->slowest;
    json["fastest_rank"] = line.ranks->fastest;
  }
  if (line.skipped > 0) json["skipped"] = line.skipped;
  if (line.rollbacks > 0) json["rollbacks"] = line.rollbacks;
  return Append(json);
}

Status RunRecorder::Evaluated(const EvaluateEvent& event) {
  Json json = event.evaluation.ToJson();
  json["kind"] = "eval";
  json["step"] = event.step;
  json["epoch"] = event.epoch;
  json["train_seconds"] = event.train_seconds;
  STOKER_RETURN_IF_ERROR(Append(json));
  const std::optional<double> accuracy = event.evaluation.accuracy;
  run_.Log(fmt::format("step {}, epoch {}: {}loss {:.4f}{}", event.step, event.epoch,
                       accuracy ? fmt::format("accuracy {:.4f}, ", *accuracy) : "",
                       event.evaluation.loss, event.best ? "; the best so far" : ""));
  observer_.OnEvaluate(event);
  return OkStatus();
}

void RunRecorder::Checkpointed(const CheckpointEvent& event) {
  run_.Log(fmt::format("step {}: checkpoint written in {:.3f} s, training waited {:.3f} s",
                       event.step, event.seconds, event.held_seconds));
  observer_.OnCheckpoint(event);
}

Status RunRecorder::Append(const Json& line) {
  if (tensorboard_ == nullptr) return metrics_.Append(line);
  STOKER_ASSIGN_OR_RETURN(const uint64_t before, metrics_.Size());
  STOKER_RETURN_IF_ERROR(metrics_.Append(line));
  Status written = tensorboard_->Write(line);
  // A line is in both or in neither: the run may be stored now, and would write it again.
  if (!written.ok()) STOKER_RETURN_IF_ERROR(metrics_.CutBack(before));
  return written;
}

void RunRecorder::Ended(std::string_view how, std::optional<bool> success) {
  run_.Log(how);
  if (tensorboard_ == nullptr || !success) return;
  if (const Status status = tensorboard_->End(*success); !status.ok()) {
    run_.Log(fmt::format("the end of the run could not be written for TensorBoard: {}",
                         status.message()));
  }
}

}  // namespace stoker
