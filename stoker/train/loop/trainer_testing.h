// Shared by the tests of the trainer: a small problem to train on, and an observer. Only tests
// include it.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/cluster/group.h"
#include "stoker/run/checkpoint.h"
#include "stoker/run/testing.h"
#include "stoker/train/loop/trainer.h"

namespace stoker {

// Counts events, and asks to stop after a step or at an evaluation.
class Watcher : public TrainObserver {
 public:
  void OnStart(const StartEvent& event) override { start = event; }
  void OnStep(const StepEvent& event) override {
    ++steps;
    last_step = event;
    if (event.step == stop_after) stop = true;
  }
  void OnEpoch(const EpochEvent&) override { ++epochs; }
  void OnEvaluate(const EvaluateEvent& event) override { evaluations.push_back(event); }
  void OnCheckpoint(const CheckpointEvent& event) override { checkpoints.push_back(event.step); }

  int64_t stop_after = -1;
  std::atomic<bool> stop{false};

  StartEvent start;
  StepEvent last_step;
  int steps = 0, epochs = 0;
  std::vector<EvaluateEvent> evaluations;
  std::vector<int64_t> checkpoints;
};

class TrainerTest : public testing::Test {
 protected:
  Result<TrainSummary> Train(const std::string& run, const std::vector<std::string>& set = {},
                             Watcher* watcher = nullptr) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer, Trainer::Create(std::move(recipe), problem_ / run));
    return watcher == nullptr ? trainer->Run() : trainer->Run(watcher, &watcher->stop);
  }
  // A run that is stopped after `step`.
  Result<TrainSummary> TrainUntil(const std::string& run, int64_t step,
                                  const std::vector<std::string>& set = {}) {
    Watcher watcher;
    watcher.stop_after = step;
    return Train(run, set, &watcher);
  }
  Result<TrainSummary> Resume(const std::string& run, const std::vector<std::string>& set = {},
                              Watcher* watcher = nullptr, const ResumeOptions& options = {}) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer,
                            Trainer::Resume(std::move(recipe), problem_ / run, options));
    return watcher == nullptr ? trainer->Run() : trainer->Run(watcher, &watcher->stop);
  }

  // Of one rank of `group`; rank 0 keeps the run.
  Result<std::unique_ptr<Trainer>> TrainerOf(const std::shared_ptr<Group>& group, Recipe recipe,
                                             const std::string& run, bool resume) const {
    if (group->membership().rank > 0) return Trainer::Follow(std::move(recipe), group, resume);
    if (resume) return Trainer::Resume(std::move(recipe), problem_ / run, {.group = group});
    return Trainer::CreateIn(
        std::move(recipe), [&] { return RunPlace{problem_ / run}; }, DataCheck::kPlaces, {}, group);
  }

  RunPaths Paths(const std::string& run) const { return {problem_ / run}; }
  std::string WeightsOf(const std::string& run) const {
    return ReadFileForTest(Paths(run).weights());
  }
  // The lines of metrics.jsonl without what depends on time.
  std::vector<std::string> MetricsOf(const std::string& run) const {
    std::vector<std::string> lines;
    std::istringstream text(ReadFileForTest(Paths(run).metrics()));
    for (std::string line; std::getline(text, line);) {
      Json json = Json::parse(line);
      for (const char* key : {"images_per_s", "waited", "seconds", "train_seconds", "exchanged",
                              "waited_for_ranks", "slowest_rank", "fastest_rank"})
        json.erase(key);
      lines.push_back(json.dump());
    }
    return lines;
  }
  std::string CheckpointOf(const std::string& run, int64_t step) const {
    return CheckpointStore(Paths(run).checkpoints(), 1).PathOf(step);
  }

  SmallProblem problem_;
};

}  // namespace stoker
