// RunStatus: the state of a running training: progress.json in its directory, for `stoker inspect`
// and `stoker plot`, and whether it waits for its data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/data/advice/limiting_stage.h"
#include "stoker/data/runtime/starvation.h"
#include "stoker/run/observer.h"

namespace stoker {

inline std::string ProgressPath(const std::filesystem::path& run) {
  return (run / "progress.json").string();
}

// Writes progress.json at construction, about once a second between steps, and at the last step:
// atomically, but not flushed to the disk. Ignores errors of writing. The file stays when the
// process ends; RunIsHeld (run_directory.h) says whether one still trains. One thread at a time.
//
//   {"step", "total_steps", "epoch", "samples_are", "train_seconds", and after the first step
//   "loss", "lr",
//    "samples_per_s", "seconds_left", "waited": share of the last 10 to 20 s spent waiting for
//    data, "starved": as in Starvation::ToJson, or null below kStarvedFrom}
class RunStatus {
 public:
  struct Of {
    std::string path;  // of progress.json
    int64_t first_step = 0;
    int64_t total_steps = 0;
    int64_t steps_per_epoch = 1;
    std::string noun = "sample";                // the kind of its samples (sample_noun.h)
    double seconds_before = 0;                  // of training, by earlier processes
    std::function<LimitingStage()> find_limit;  // called if the run waits for data
  };
  explicit RunStatus(Of of);

  // Call it after each step. `event.train_seconds` and the other sums must increase from step to
  // step.
  void Stepped(const StepEvent& event);

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
  void Write() const;
  double SecondsLeft() const;

  const Of of_;
  StepEvent last_;
  bool any_ = false;
  Mark first_, older_, newer_;  // the beginning of the second step; those of the window
  Mark now_;
  Stopwatch since_look_;
  std::optional<Starvation> starved_;
};

}  // namespace stoker
