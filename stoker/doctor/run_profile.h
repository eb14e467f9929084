// RunProfile: all that the doctor has measured of a run, from which it concludes (diagnose.h).
// Every part may be missing, because the recipe has no such part, the time was too short or the
// measurement failed; a rate or time that was not measured is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/stage_work.h"
#include "stoker/doctor/recipe_change.h"

namespace stoker {

// What `stoker env` once measured on this machine. 0: not measured.
struct MachineRoofs {
  double read_bytes_per_s = 0;  // in sequence, of the file system that holds the data
  double pictures_per_s = 0;    // JPEGs of 500 x 375 pixels decoded, by all CPUs
};

struct MachineProfile {
  std::string host;
  int64_t rank = 0;
  int64_t cpus = 1;           // that the process may use
  bool accelerator = false;   // steps are computed on one
  double other_runnable = 0;  // threads of other processes that wanted a CPU, on average
  int64_t memory_budget = 0;  // of pipelines, bytes
  std::optional<MachineRoofs> roofs = {};
};

// A stage of a pipeline. The three times are summed over its threads.
struct StageTimes {
  std::string name;
  StageWork work = StageWork::kArranges;
  int64_t elements = 0;
  int64_t bytes = 0;  // of what it made
  double busy_s = 0, starved_s = 0, blocked_s = 0;
  int64_t peak_memory_bytes = 0;
};

// The input pipeline alone: batches are thrown away, so nothing but the pipeline limits it.
struct InputProfile {
  double samples_per_s = 0;
  double seconds = 0;              // measured
  int64_t samples = 0;             // in that time
  double first_batch_s = 0;        // from opening the files to the first batch
  int64_t threads = 0;             // most that worked at the same time
  double cpu_s = 0;                // CPU time of the process in that time
  std::vector<StageTimes> stages;  // source first

  // The stage that limits it, and whether the others wait for it. Empty: none does.
  std::string limiting_stage;
  std::string why;  // "2 threads spent 96% of the time in it, 51 ms for each of its elements"
  StageWork limiting_work = StageWork::kArranges;
  bool on_servers = false;   // of a source: its files are on servers
  bool many_files = false;   // of a source: it opens a file for each sample, or nearly
  bool on_consumer = false;  // the thread that takes batches does the work itself
  bool idle = false;         // the work of no stage explains the time

  // What threads did while they worked on elements, as shares of that time: they waited for a lock,
  // or for a disk or a server.
  double lock_share = 0, disk_share = 0;

  // The share of the time spent waiting for the slowest twentieth of the batches (at least one).
  double slowest_share = 0;
  int64_t batches = 0;
};

// The step alone, repeated on one batch that stays on the device: the roof of training.
struct StepProfile {
  int64_t batch = 0;      // samples
  double seconds = 0;     // of a step: the parts below
  double backward_s = 0;  // forward and backward pass
  double optimizer_s = 0;
  double copy_s = 0;    // of a batch to the device; 0 on the CPU
  int64_t threads = 0;  // that compute
};

// Training as the recipe says, in a temporary run directory. Times in seconds.
struct TrainingProfile {
  int64_t steps = 0;    // measured, without those at the start
  int64_t samples = 0;  // in them
  double seconds = 0;   // by the clock on the wall, from the first measured step to the last

  // Means of a step.
  double step_s = 0;     // without callbacks, with the wait
  double wait_s = 0;     // for data
  double logging_s = 0;  // for lines of metrics and TensorBoard
  double callbacks_s = 0;

  double startup_s = 0;     // from reading the recipe to the end of the first step
  double evaluation_s = 0;  // of one
  double checkpoint_s = 0;  // in which training waits for one
  double epoch_gap_s = 0;   // between two epochs, without evaluation and checkpoint

  // The whole run that the recipe plans.
  int64_t total_steps = 0, steps_per_epoch = 0;
  double evaluations = 0, checkpoints = 0, epochs = 0;
};

// What the recipe says about what can be changed.
struct RecipeFacts {
  std::optional<int64_t> feed_threads, threads, log_every, eval_every_steps, checkpoint_every_steps,
      histograms_every, tensors_every;
  int64_t eval_every = 1;
  int64_t tensors_place = -1;  // of log_tensors in train.callbacks
  bool checkpoint_async = true;
  bool memory_set = false;
  bool detect_anomaly = false;
  // Weights or the end of the run depend on evaluations.
  bool follows_evaluations = false;
  bool has_model = false;

  std::vector<std::string> stages;  // of data.train, as written
  bool ends_with_prefetch = false;
  std::string batch_key;  // of the size of batches: "data.train.3.batch.size"
  int64_t batch = 0;      // their samples; 0: unknown
  // Where a `cache` would save the most: after this stage of data.train (-1: before all of them,
  // after what data.source has), once stage `cache_move` has moved after it (-1: none has to).
  // Nothing: nowhere. And the bytes that it would keep; 0: unknown.
  std::optional<int64_t> cache_after;
  int64_t cache_move = -1;
  int64_t cache_bytes = 0;
};

// The part of a run that a trial measures.
enum class TrialPart { kInput, kStep };

// A part of the run measured again with one change of the recipe.
struct Trial {
  RecipeChange change;
  TrialPart part = TrialPart::kInput;
  double samples_per_s = 0;  // with the change
  double before = 0;         // without it
  bool estimated = false;    // from the times of stages, because measuring would take too long
  std::string error = {};    // why it could not be measured
};

struct RunProfile {
  std::string recipe;
  double seconds = 0;  // that measuring took
  MachineProfile machine;
  RecipeFacts facts;
  std::optional<InputProfile> input;
  std::optional<StepProfile> step;
  std::optional<TrainingProfile> training;
  std::vector<Trial> trials;
  std::string error;         // that ended the measurement early; empty: none
  bool interrupted = false;  // by a signal

  Json ToJson() const;  // docs/doctor.md has the schema
};

}  // namespace stoker
