// One pass over the training side, in which one or more stages learn.
#pragma once

#include <filesystem>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/learn/learn_groups.h"
#include "stoker/data/learn/learned.h"

namespace stoker {

// The samples that a group learns from: the stages before the end of the group without those that
// learn, and without those that IsLeftOut.
//   list  the pipeline, with what earlier groups have learned
// Errors: those of LearnFrom (learn.h) that need no reading.
Result<Dataset> SamplesFor(const ConfigNode& list, const LearnGroup& group,
                           const std::filesystem::path& root);

struct PassResult {
  std::vector<LearnedValue> values;  // of the requests of the group, in their order
  int64_t samples = 0;
};

// Reads `samples` once. Errors: those of LearnFrom.
Result<PassResult> RunLearningPass(const Dataset& samples, const ConfigNode& list,
                                   const LearnGroup& group);

}  // namespace stoker
