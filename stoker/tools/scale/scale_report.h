// The figures of several numbers of ranks side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/tools/chart/chart.h"
#include "stoker/tools/compare/comparison.h"
#include "stoker/tools/scale/scale_advice.h"
#include "stoker/tools/scale/scale_run.h"

namespace stoker {

// A training beside the one with the fewest ranks and the same batch.
struct ScaleRow {
  ScalePoint point;
  NoisyChange speedup;    // of samples a second
  double efficiency = 1;  // speedup / (ranks / the fewest ranks)
  // Of the goal; nothing if it was not reached.
  std::optional<ReachedAt> reached;
};

struct ScaleReport {
  std::string recipe;
  int64_t cpus = 0;            // that the ranks share
  std::vector<ScaleRow> rows;  // by batch, then by ranks
  // What all had to get to: as of ComparedGoal.
  std::optional<std::string> metric;
  double goal = 0;
  std::vector<ScaleFinding> findings;

  // A table, then a line for each finding.
  std::string ToText() const;
  // Schema 1; docs/distributed.md describes it.
  //   kept  the runs stay, and are named
  Json ToJson(bool kept) const;
  // Samples a second over ranks, a line for each batch, and those of perfect scaling, faint.
  Chart ToChart() const;
};

//   goal  as of CompareRuns
ScaleReport MakeScaleReport(const std::string& recipe, std::vector<ScalePoint> points, int64_t cpus,
                            std::optional<ComparedGoal> goal);

}  // namespace stoker
