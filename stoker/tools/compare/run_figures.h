// The figures of a run: how fast it was, and how good it became.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/tools/compare/noise.h"
#include "stoker/tools/compare/run_record.h"

namespace stoker {

// A figure of the evaluations of a run.
struct EvaluationFigure {
  std::string name;  // "accuracy", "loss", "top5"
  double last = 0;
  double best = 0;
  double last_step = 0;
  double best_step = 0;
  int64_t samples = 0;  // of the last evaluation; 0: unknown
  bool less_is_better = false;
  bool is_share = false;  // of samples that are right, so that its noise is known
};

struct RunFigures {
  std::vector<RateWindow> windows;      // of its steps, from line to line of its metrics
  std::optional<double> samples_per_s;  // over all of them
  std::optional<double> waited;         // share of the time of steps, waiting for data
  std::optional<double> train_seconds;  // of steps so far
  std::optional<double> steps;
  std::optional<int64_t> peak_rss_bytes;
  std::string noun = "sample";  // what its samples are
  std::vector<EvaluationFigure> evaluations;

  // Returns null if the run has no such figure.
  const EvaluationFigure* Find(const std::string& name) const;
  Json ToJson() const;
};

RunFigures FiguresOf(const RunRecord& run);

}  // namespace stoker
