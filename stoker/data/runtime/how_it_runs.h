// Which stages of a pipeline the threaded runtime runs together, and how.
#pragma once

#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"

namespace stoker {

enum class Way {
  kByPosition,  // a ReadAhead whose threads make each chunk from the source on
  kHop,         // a ReadAhead: one thread at a time pulls the input, several map what it pulled
  kInOrder,     // on the thread of whoever pulls it
};

// How the stage is run that gives the elements of `node`.
Way WayOf(const DatasetNode& node);

// Stages that are run together; those of a ReadAhead are known by the last of them.
struct RunGroup {
  Way way = Way::kInOrder;
  std::vector<const DatasetNode*> stages;  // source first

  const DatasetNode& last() const { return *stages.back(); }
};

// Groups come behind those that they read from. Pipelines that a stage opens while it runs are not
// seen.
std::vector<RunGroup> HowItRuns(const Dataset& dataset);

}  // namespace stoker
