// The cost of each stage of a pass so far, and the stage that limits the pipeline.
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
  int64_t threads = 1, depth = 0, chunk = 0;  // final values; depth and chunk 0: it has no queue
  std::vector<StageCost> stages;              // source first
};

struct PipelineCosts {
  std::vector<GroupCost> groups;  // each after those that it reads from
  // The share of time that the consumer has waited for the pipeline, including the work of stages
  // on its thread.
  double waited = 0;

  // Return the group whose threads are busiest, and its busiest stage.
  const GroupCost& limiting_group() const;
  const StageCost& limiting_stage() const;
  // Returns how many threads that group kept busy, on average.
  double busy_threads() const;
  // Returns whether that explains the consumer's wait.
  bool idle() const { return !Explains(busy_threads(), waited); }
  // Returns whether the work of so many threads can be what a consumer has waited for, for this
  // share of its time: at least a quarter of it.
  static bool Explains(double busy_threads, double waited) { return busy_threads >= waited / 4; }
  // Returns "2 threads spent 96% of the time in it, 51 ms for each of its elements"
  std::string WhyItLimits() const;
};

// Returns the costs of `iterator`, a pass over `dataset`, so far. Borrows the nodes of `dataset`.
// Callable from any thread, also while another uses the iterator.
PipelineCosts CostsOf(const Dataset& dataset, const Iterator& iterator);

}  // namespace stoker
