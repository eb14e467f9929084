#include "stoker/tools/live/train_watch.h"

#include <optional>

namespace stoker {
namespace {

// The counters of a pipeline are read so often.
constexpr double kProfileSeconds = 0.5;

}  // namespace

void TrainWatch::OnStart(const StartEvent& event) {
  pipeline_ = event.pipeline;
  board_.Update([&](LiveFacts& facts) {
    facts.run = event.run;
    facts.model = event.model;
    facts.device = event.device;
    facts.noun = event.noun;
    facts.phase = "training";
    facts.train = TrainFacts{.step = event.first_step,
                             .total_steps = event.total_steps,
                             .steps_per_epoch = event.steps_per_epoch,
                             .first_step = event.first_step,
                             .parameters = event.parameters};
  });
}

void TrainWatch::OnStep(const StepEvent& event) {
  std::optional<Profile> profile;
  if (pipeline_ && (!any_profile_ || since_profile_.ElapsedSeconds() >= kProfileSeconds)) {
    profile = pipeline_();
    since_profile_ = Stopwatch();
    any_profile_ = true;
  }
  board_.AddLoss({.step = static_cast<double>(event.step), .loss = event.loss, .lr = event.lr});
  board_.Update([&](LiveFacts& facts) {
    if (!facts.train) return;
    TrainFacts& train = *facts.train;
    train.step = event.step;
    train.samples = event.train_samples;
    train.step_seconds = event.train_seconds;
    train.waited_seconds = event.waited_seconds;
    train.beside = event.beside;
    train.loss = event.loss;
    train.lr = event.lr;
    train.waited_lately = event.starved == nullptr ? 0 : event.starved->waited;
    if (event.starved == nullptr)
      facts.waits.clear();
    else if (profile)
      facts.waits = event.starved->Sentence();
    if (profile) facts.pipeline = *std::move(profile);
  });
}

void TrainWatch::OnEpoch(const EpochEvent&) {
  board_.Update([](LiveFacts& facts) {
    if (facts.train) ++facts.train->epochs;
  });
}

void TrainWatch::OnEvaluate(const EvaluateEvent& event) {
  const Evaluation& evaluation = event.evaluation;
  board_.AddEvaluation({.step = static_cast<double>(event.step),
                        .loss = evaluation.loss,
                        .accuracy = evaluation.accuracy});
  board_.Update([&](LiveFacts& facts) {
    if (!facts.train) return;
    ++facts.train->evaluations;
    facts.train->evaluation_seconds += evaluation.seconds;
    facts.train->evaluation_loss = evaluation.loss;
    facts.train->accuracy = evaluation.accuracy;
    facts.train->metrics = evaluation.metrics;
  });
}

void TrainWatch::OnCheckpoint(const CheckpointEvent& event) {
  board_.Update([&](LiveFacts& facts) {
    if (!facts.train) return;
    ++facts.train->checkpoints;
    facts.train->checkpoint_seconds += event.held_seconds;
  });
}

}  // namespace stoker
