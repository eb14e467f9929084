// The metrics of a run (run/metrics_file.h) as columns, for curves. Needs no torch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/runtime/starvation.h"

namespace stoker {

// One figure over the course of a run: a value for each line that has it, all vectors as long.
struct MetricColumn {
  std::string kind;             // of the lines: "train", "eval"
  std::string name;             // "loss"
  std::vector<double> step;     // optimizer steps done
  std::vector<double> epoch;    // NaN if the line does not have it
  std::vector<double> seconds;  // of training so far, evaluations left out; likewise
  std::vector<double> value;    // NaN if it was not finite
};

struct RunMetrics {
  std::string name;                   // as it was asked for
  std::vector<MetricColumn> columns;  // in the order in which they appear
  std::string warning;                // of a last line that was cut short; empty: none
  // Describes the run's waits for data, up to now if it has not ended.
  std::optional<Starvation> starved = {};
};

// Reads `run`, a run directory or a metrics file itself. Skips a partial last line of a killed
// process with a warning. Errors: kNotFound if there is no run; kFailedPrecondition if it has no
// metrics yet; kDataLoss, with the line, for one that is not a JSON object with a step.
Result<RunMetrics> ReadRunMetrics(const std::string& run);

// The part of it that needs no file. `source`: what messages call the text.
Result<RunMetrics> ParseRunMetrics(std::string_view text, std::string_view source);

}  // namespace stoker
