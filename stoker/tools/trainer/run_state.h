// How a run stands: whether a process trains in it, how far it is, how fast, and its last losses.
#pragma once

#include <string>

#include "stoker/base/json.h"
#include "stoker/run/run_directory.h"

namespace stoker {

struct RunState {
  std::string headline;  // "training: step 120 of 600"
  std::string text;      // lines below it, each indented by two; empty for a finished run
  // {"state": "finished", "starting", "training" or "stopped"}, and where there is something to
  // tell "progress" (run_status.h, with "age_seconds") and "losses": [{"step", "loss"}, ...]
  Json json;
};

// What the samples of a run are called, by progress.json or summary.json.
std::string NounIn(const Json& json);

// Reads progress.json and metrics.jsonl; what of it cannot be read is left out.
RunState StateOfRun(const RunPaths& paths, bool finished);

}  // namespace stoker
