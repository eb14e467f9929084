// RunStatus: the state of a running training: progress.json in its directory
// (published_progress.h), and whether it waits for its data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/base/profile.h"
#include "stoker/data/advice/limiting_stage.h"
#include "stoker/data/advice/stage_works.h"
#include "stoker/data/runtime/starvation.h"
#include "stoker/run/observer.h"
#include "stoker/run/published_progress.h"

namespace stoker {

// Writes progress.json at construction, about once a second between steps, at the last step, and
// when it begins an evaluation or a checkpoint: atomically, but not flushed to the disk. That takes
// some 0.2 ms. Ignores errors of writing, and tries again a second later. The file stays when the
// process ends; RunIsHeld (run_directory.h) says whether one still trains. One thread at a time.
class RunStatus {
 public:
  struct Of {
    std::string path;  // of progress.json; empty: it is not written
    int64_t first_step = 0;
    int64_t total_steps = 0;
    int64_t steps_per_epoch = 1;
    std::string noun = "sample";  // the kind of its samples (sample_noun.h)
    double seconds_before = 0;    // of training, by earlier processes
    std::string device = {};      // "cpu (AVX512)"
    bool accelerator = false;
    int64_t compute_threads = 1;
    StageWorks works = {};
    std::function<LimitingStage()> find_limit;  // called if the run waits for data
    std::function<Profile()> get_profile = {};  // of the pipeline; may be empty
  };
  explicit RunStatus(Of of);

  // Call it after each step. `event.train_seconds` and the other sums must increase from step to
  // step.
  void Stepped(const StepEvent& event);

  // Call it before something that takes longer than a step. The next step ends it.
  void Begins(RunActivity activity);

  // Call it when the process has done its last: what it publishes then counts all of that.
  void Ends(const BesideSteps& beside);

  // Describes the last seconds; null if the run hardly waits.
  const Starvation* starved() const { return starved_ ? &*starved_ : nullptr; }

  // Counted from the second step of this process on, because the first waits for the pipeline to
  // start.
  double waited() const;
  std::optional<Starvation> Overall() const;

 private:
  struct Mark {
    int64_t step = 0, samples = 0;
    double seconds = 0, waited = 0;
  };
  void Look();
  std::optional<Starvation> StarvedBy(double seconds, double waited) const;
  void Write();
  void AddRates(PublishedProgress& progress) const;
  PublishedWork Work() const;
  PublishedInput Input() const;
  double SecondsLeft() const;

  const Of of_;
  const PublishedProgress fixed_;  // what stays the same
  const Stopwatch since_begin_;
  StepEvent last_;
  bool any_ = false;
  RunActivity activity_ = RunActivity::kStarting;
  Mark first_, older_, newer_;  // the beginning of the second step; those of the window
  Mark now_;
  Stopwatch since_look_, since_write_;
  std::optional<Starvation> starved_;
};

}  // namespace stoker
