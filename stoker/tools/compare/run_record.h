// What the directory of a run holds, as far as runs are compared by it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/run/choices.h"
#include "stoker/run/run_environment.h"
#include "stoker/tools/chart/run_metrics.h"
#include "stoker/tools/inspect/run_state.h"

namespace stoker {

struct RunRecord {
  std::string name;  // as it was asked for
  ConfigNode recipe;
  RunState state;
  RunMetrics metrics;  // no columns if it has none yet
  // Nothing if the run has none: it has not come so far, or is of an older version.
  std::optional<Choices> choices;
  std::optional<RunEnvironment> environment;
  std::optional<Json> data;  // marks of its files (run/recipe_changes.h)
  std::optional<Json> summary;
  std::vector<std::string> notes;  // what could not be read, and why
};

// Reads a run, finished or not. A file beside the recipe and the metrics that is damaged, or that
// this version does not understand, is a note, and its part counts as not there. Takes no lock and
// writes nothing. Errors: those of ReadRunRecipe (it is no run, with what to do) and of
// ReadRunMetrics, except that there are none yet.
Result<RunRecord> ReadRunRecord(const std::string& directory);

}  // namespace stoker
