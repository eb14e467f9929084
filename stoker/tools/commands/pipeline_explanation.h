// The output of `stoker bench --explain`: the pipeline as written and as run, each choice of the
// runtime with its figures, the cost of every stage, and the limiting stage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/profile.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/explanation.h"
#include "stoker/data/core/iterator.h"

namespace stoker {

struct ExplainedStage {
  std::string name;
  int64_t elements = 0;
  double elements_per_s = 0;
  double us_per_element = 0;  // of one thread, its inputs excluded
  double busy_share = 0;      // of the time of the threads that may run it
};

// Stages that are run together.
struct ExplainedGroup {
  std::string way;
  int64_t threads = 1, depth = 0, chunk = 0;  // final values; depth and chunk 0: it has no queue
  std::vector<ExplainedStage> stages;         // source first
};

struct PipelineExplanation {
  std::string written;                 // one stage a line
  std::vector<ExplainedGroup> groups;  // each after those that it reads from
  std::vector<Decision> decisions;
  int64_t decisions_left_out = 0;
  std::string limit;      // the name of the stage, or "consumer"
  std::string limit_why;  // a sentence with its figures

  Json ToJson() const;
  std::string ToText() const;
};

// Returns the explanation of `iterator`, a pass over `run` (on threads if `threaded`), from its
// counters so far. `written` is the user's pipeline; additional stages of `run` are marked "(added
// by bench)".
PipelineExplanation ExplainPipeline(const Dataset& written, const Dataset& run, bool threaded,
                                    const Iterator& iterator);

// Marks the stages of `profile` in the same way.
void MarkAddedStages(const Dataset& written, const Dataset& run, Profile& profile);

}  // namespace stoker
