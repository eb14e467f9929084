// What `stoker top` knows of its target at a moment, and of the moments before.
//
// Plain values. Sources fill them (run_source.h, process_source.h), the views read them
// (top_screen.h, top_line.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/diagnosis.h"
#include "stoker/doctor/process_profile.h"
#include "stoker/machine/live/gpu_meter.h"
#include "stoker/machine/live/machine_counters.h"
#include "stoker/run/published_progress.h"

namespace stoker {

// One look, about once a second.
struct TopSample {
  double at_s = 0;  // by a clock that never goes back
  MachineCounters machine;
  std::vector<GpuSample> gpus;

  // Of a run: what it has published last; nothing: nothing yet.
  std::optional<PublishedProgress> progress;
  double progress_age_s = 0;  // since it was written
};

enum class TopState {
  kStarting,  // the run has no step yet
  kRunning,
  kEnded,
};

struct LossPoint {
  double step = 0, loss = 0;
};

struct TopHistory {
  // Longer than any screen is wide, and than the window of a verdict.
  static constexpr size_t kMostSamples = 240;

  bool is_run = false;  // else a process
  std::string target;   // as it was asked for: "runs/mnist-20240131-235959", "4711"
  std::string command;  // of a process
  std::string host;     // this one
  TopState state = TopState::kStarting;
  std::string state_text;  // "training", "finished", "stopped at step 12 of 600; ..."

  std::deque<TopSample> samples;  // the newest last; at least one

  // Of a run.
  std::vector<LossPoint> losses;  // of training, ascending steps
  std::string evaluation;         // "step 600: accuracy 0.9134, loss 0.2501"; empty: none yet

  // Of a process and those below it, in the last seconds, the busiest first.
  std::vector<ProcessTimes> processes;

  std::optional<Diagnosis> verdict;  // of the last seconds; nothing: too little was seen
  std::string advice;                // what to try; empty: nothing is known
  std::vector<std::string> notes;    // what could not be read, a line each

  const TopSample& now() const { return samples.back(); }
};

}  // namespace stoker
