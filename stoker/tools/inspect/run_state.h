// The state of a run: whether a process trains in it, its progress, speed and last losses.
#pragma once

#include <string>

#include "stoker/base/json.h"
#include "stoker/run/run_directory.h"

namespace stoker {

struct RunState {
  std::string headline;  // "training: step 120 of 600"
  std::string text;      // lines below it, each indented by two; empty for a finished run
  // {"state": "finished", "starting", "training" or "stopped"}, and if available "progress"
  // (published_progress.h, with "age_seconds") and "losses": [{"step", "loss"}, ...]
  Json json;
};

// Returns the noun for a run's samples, from progress.json or summary.json.
std::string NounIn(const Json& json);

// Reads progress.json and metrics.jsonl, as far as they can be read.
RunState StateOfRun(const RunPaths& paths, bool finished);

}  // namespace stoker
