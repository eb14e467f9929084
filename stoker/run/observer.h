// TrainObserver: receives the events of a training run, for a progress bar, a log or a test.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stoker/base/profile.h"
#include "stoker/data/runtime/starvation.h"
#include "stoker/run/evaluation.h"
#include "stoker/run/rank_pace.h"
#include "stoker/run/tune_report.h"

namespace stoker {

struct StartEvent {
  std::string run;     // the run directory
  std::string device;  // "cpu (AVX512)"
  std::string model;   // its name in the recipe
  int64_t parameters = 0;
  int64_t first_step = 0;  // steps done before the resume
  int64_t total_steps = 0;
  int64_t steps_per_epoch = 0;
  std::string noun = "sample";       // the kind of its samples (sample_noun.h)
  std::string initial_weights = {};  // the source of initial weights; empty if none
  Choices choices;
  TuneReport tuning;
  std::vector<std::string> warnings;  // skipped damaged checkpoints, changed recipe keys, ... ...
  // Returns the counters of the input pipeline so far. May be empty; may be called by an observer,
  // until the run ends.
  std::function<Profile()> pipeline = {};
};

// What a process has done beside steps so far. Callbacks that belong to a step are part of the
// step's time too.
struct BesideSteps {
  double evaluation_seconds = 0;
  int64_t evaluations = 0;
  double checkpoint_seconds = 0;  // in which training waited
  int64_t checkpoints = 0;
  double logging_seconds = 0;  // for lines of metrics and TensorBoard
  double callback_seconds = 0;
};

struct StepEvent {
  int64_t step = 0;     // steps done, this one included
  int64_t samples = 0;  // in its batch
  double loss = 0;      // the newest known; on an accelerator some steps old
  double lr = 0;
  double train_seconds = 0;   // in steps of this process, including waits for data
  double waited_seconds = 0;  // the part of these spent waiting for data
  int64_t train_samples = 0;  // in steps of this process
  BesideSteps beside = {};
  // Describes the last seconds if steps wait for data; null if they hardly do. Lives as long as the
  // call.
  const Starvation* starved = nullptr;
  // How ranks that train together kept up, until the last line of metrics; null: not known, or one
  // process. Lives likewise.
  const RankPace* ranks = nullptr;
};

struct EpochEvent {
  int64_t epoch = 0;  // finished, from 1
  int64_t step = 0;
  double seconds = 0;       // in its steps
  double images_per_s = 0;  // over its steps
};

struct EvaluateEvent {
  int64_t step = 0;
  int64_t epoch = 0;  // finished
  Evaluation evaluation;
  bool best = false;         // the highest accuracy so far, or the lowest loss without accuracy
  double train_seconds = 0;  // in steps of the run so far, over all its processes
};

struct CheckpointEvent {
  int64_t step = 0;  // of the checkpoint; training may be further
  std::string path;
  double seconds = 0;       // until it was known to be stored
  double held_seconds = 0;  // the part of these in which training waited
};

// The training thread calls every function between steps and waits for it.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void OnStart(const StartEvent&) {}
  virtual void OnStep(const StepEvent&) {}
  virtual void OnEpoch(const EpochEvent&) {}
  virtual void OnEvaluate(const EvaluateEvent&) {}
  virtual void OnCheckpoint(const CheckpointEvent&) {}
};

}  // namespace stoker
