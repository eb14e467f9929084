// Compares runs: what differs, in what they were made of and in their figures, and whether that is
// more than noise.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/tools/chart/run_plot.h"
#include "stoker/tools/compare/noise.h"
#include "stoker/tools/compare/run_differences.h"
#include "stoker/tools/compare/run_figures.h"
#include "stoker/tools/compare/run_record.h"

namespace stoker {

// What runs had to get to, and when each did.
struct ComparedGoal {
  std::string metric;
  double value = 0;
  std::vector<std::optional<ReachedAt>> reached;  // one a run
};

// A run and the first one.
struct RunComparison {
  RunDifferences differences;
  NoisyChange rate;  // of samples a second
  struct Metric {
    std::string name;
    std::optional<NoisyChange> last;  // none if its noise is unknown
  };
  std::vector<Metric> metrics;  // that both have
};

struct Comparison {
  std::vector<RunRecord> runs;
  std::vector<RunFigures> figures;         // one a run
  std::vector<RunComparison> comparisons;  // one for each run but the first
  std::optional<ComparedGoal> goal;

  // docs/comparing.md describes both. Lines have at most 80 columns, unless a name is longer.
  std::string ToText() const;
  Json ToJson() const;
};

// Compares every run with the first.
//   goal  as of `stoker plot --reach`; none: the worst of the best accuracies, which all runs
//   reached
// REQUIRES: at least one run.
Comparison CompareRuns(std::vector<RunRecord> runs, std::optional<ComparedGoal> goal);

}  // namespace stoker
