// What a command that runs knows of itself, for pages and metrics. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/profile.h"
#include "stoker/run/observer.h"

namespace stoker {

// Of a training run.
struct TrainFacts {
  int64_t step = 0;  // steps done, those before a resume included
  int64_t total_steps = 0, steps_per_epoch = 0;
  int64_t first_step = 0;  // done before this process
  int64_t epochs = 0;      // finished by this process
  int64_t parameters = 0;
  // Of this process.
  int64_t samples = 0;
  double step_seconds = 0, waited_seconds = 0;
  BesideSteps beside = {};
  double loss = 0;  // the newest known
  double lr = 0;
  int64_t evaluations = 0, checkpoints = 0;
  double evaluation_seconds = 0, checkpoint_seconds = 0;
  std::optional<double> evaluation_loss = {}, accuracy = {};  // of the last evaluation
  Json metrics = nullptr;    // of train.metrics, by name; null if none was asked for
  double waited_lately = 0;  // share of the last seconds spent waiting for data; 0: hardly any
};

// Of `bench`, of `pack`, and of the parts of `doctor` that measure the input.
struct WorkFacts {
  int64_t samples = 0;   // of pack: elements written
  int64_t batches = 0;   // of an input that is measured
  int64_t files = 0;     // of pack: those that are whole
  int64_t planned = -1;  // elements of pack; -1: unknown
};

struct LiveFacts {
  std::string command;  // "train"
  std::string recipe;   // as it was given; of pack the source; may be empty
  std::string run;      // the run directory; empty: none
  std::string model, device;
  std::string noun = "sample";     // the kind of its samples
  std::string phase = "starting";  // what it does now, for people
  std::string waits;               // what it waits for, as a sentence; empty: nothing
  std::optional<TrainFacts> train = {};
  std::optional<WorkFacts> work = {};
  Profile pipeline = {};  // of the input; without stages if there is none yet
};

// A point of the curves of a run.
struct TrainPoint {
  double step = 0;
  double loss = 0;
  double lr = 0;
};
struct EvaluationPoint {
  double step = 0;
  double loss = 0;
  std::optional<double> accuracy;
};

}  // namespace stoker
