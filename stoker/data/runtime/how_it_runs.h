// The groups of stages that the threaded runtime runs together, and how.
#pragma once

#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"

namespace stoker {

enum class Way {
  kByPosition,  // a ReadAhead whose threads make each chunk from the source on
  kHop,         // a ReadAhead: one thread at a time pulls the input, several map what it pulled
  kInOrder,     // on the thread that pulls it
};

// Returns how the stage `node` is run.
Way WayOf(const DatasetNode& node);

// Stages that are run together; the last one identifies a ReadAhead.
struct RunGroup {
  Way way = Way::kInOrder;
  std::vector<const DatasetNode*> stages;  // source first

  const DatasetNode& last() const { return *stages.back(); }
};

// Returns the groups, each after those that it reads from. Ignores pipelines that a stage opens
// while it runs.
std::vector<RunGroup> HowItRuns(const Dataset& dataset);

}  // namespace stoker
