// TrainObserver: what a training run tells those who watch it: a progress bar, a log, a test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/runtime/starvation.h"
#include "stoker/run/evaluation.h"
#include "stoker/run/tune_report.h"

namespace stoker {

struct StartEvent {
  std::string run;     // the run directory
  std::string device;  // "cpu (AVX512)"
  std::string model;   // its name in the recipe
  int64_t parameters = 0;
  int64_t first_step = 0;  // steps done before, by the run that is resumed
  int64_t total_steps = 0;
  int64_t steps_per_epoch = 0;
  std::string noun = "sample";       // what its samples are (sample_noun.h)
  std::string initial_weights = {};  // what was taken from where; empty where nothing was
  Choices choices;
  TuneReport tuning;
  std::vector<std::string> warnings;  // damaged checkpoints passed over, changed recipe keys, ...
};

struct StepEvent {
  int64_t step = 0;     // done, this one included
  int64_t samples = 0;  // in its batch
  double loss = 0;      // the newest known; on an accelerator some steps old
  double lr = 0;
  double train_seconds = 0;   // in steps of this process, those of waiting for data included
  double waited_seconds = 0;  // of these, waiting for data
  int64_t train_samples = 0;  // in steps of this process
  // Of the last seconds, where the step waits for its data; null where it hardly does. Lives as
  // long as the call.
  const Starvation* starved = nullptr;
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
  bool best = false;         // the highest accuracy so far, or where there is none the lowest loss
  double train_seconds = 0;  // in steps of the run so far, over all its processes
};

struct CheckpointEvent {
  int64_t step = 0;  // its own: training may be further on
  std::string path;
  double seconds = 0;       // until it was known to be stored
  double held_seconds = 0;  // of these, those in which training waited
};

// Every function is called from the thread that trains, between steps, and holds it up while it
// runs.
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
