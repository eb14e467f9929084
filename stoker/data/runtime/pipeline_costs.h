// What each stage of a pass has cost so far, and which one limits the whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/runtime/how_it_runs.h"

namespace stoker {

struct StageCost {
  const DatasetNode* node = nullptr;
  int64_t elements = 0;
  double elements_per_s = 0;
  double us_per_element = 0;  // of one thread, its inputs excluded
  double busy_share = 0;      // of the time of the threads that may run it
};

// Stages that are run together.
struct GroupCost {
  Way way = Way::kInOrder;
  int64_t threads = 1, depth = 0, chunk = 0;  // in the end; depth and chunk 0: it has no queue
  std::vector<StageCost> stages;              // source first
};

struct PipelineCosts {
  std::vector<GroupCost> groups;  // behind those that they read from
  // The share of the time that the consumer has waited for the pipeline, work that stages do on its
  // own thread included.
  double waited = 0;

  // The group whose threads are busiest, and its stage with the largest part of that. There is one,
  // since a pipeline has a stage.
  const GroupCost& limiting_group() const;
  const StageCost& limiting_stage() const;
  // Whether that group works for less than a quarter of what the consumer waits: then it is not its
  // work that is waited for.
  bool idle() const;
  // "2 threads spent 96% of the time in it, 51 ms for each of its elements"
  std::string WhyItLimits() const;
};

// What `iterator`, a pass over `dataset`, has counted so far. Borrows the nodes of `dataset`. Any
// thread, also while another uses the iterator.
PipelineCosts CostsOf(const Dataset& dataset, const Iterator& iterator);

}  // namespace stoker
