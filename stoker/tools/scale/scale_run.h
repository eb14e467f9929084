// One training in several processes, and what it measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/compare/run_figures.h"
#include "stoker/tools/compare/run_record.h"

namespace stoker {

struct ScaleRunOptions {
  std::string recipe;
  std::vector<std::string> set;  // assignments, the last of which counts
  int64_t ranks = 1;
  bool share_cpus = false;
  std::filesystem::path folder;  // of the run and what belongs to it; made here
};

// Figures are of steps, so without start, evaluations and checkpoints.
struct ScalePoint {
  int64_t ranks = 1;
  int64_t batch = 0;          // rows of a step of all ranks, on average; 0: unknown
  RunRecord record;           // of the run
  RunFigures figures;         // of the run
  double epochs = 0;          // trained
  double step_seconds = 0;    // of a step, on average
  double wait_for_ranks = 0;  // share of rank 0's steps: for other ranks, and for what they send
  double wait_for_data = 0;   // share of rank 0's steps
  uint64_t weight_bytes = 0;  // of the final weights, about what travels as gradients

  double samples_per_s() const { return figures.samples_per_s.value_or(0); }
  std::optional<double> epoch_seconds() const;
};

// Trains as `stoker launch -n N -- train` does. What the processes print goes into files. Errors:
// kInvalidArgument for a wrong recipe and kFailedPrecondition for any other failure, with the last
// error that a rank printed; kCancelled after a signal; those of starting processes and of files.
// REQUIRES: signals are noted (NoteInterrupt); this process has one thread.
Result<ScalePoint> TrainInRanks(const ScaleRunOptions& options);

// Returns the share of the steps' time that a thread spent in spans called `name`, from the text of
// `--folded` (trace/folded_stacks.h): lines of "main;step;NAME NUMBER". 0 if there are no steps.
double ShareOfSteps(std::string_view folded, std::string_view name);

}  // namespace stoker
