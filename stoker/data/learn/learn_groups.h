// Which stages learn together, in one pass.
#pragma once

#include <filesystem>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/learn/requests.h"

namespace stoker {

// Stages that learn in one pass over the first `end` stages of the pipeline, without themselves.
struct LearnGroup {
  std::vector<LearnRequest> requests;
  size_t end = 0;
};

// Returns whether a stage changes neither which samples there are nor what they hold, so that a
// pass that learns leaves it out.
bool IsLeftOut(std::string_view name);

// Returns the group of the next requests, at least one: as many as work on different fields, with
// nothing between them that could depend on one of these fields. It ends after `split`, which does
// not depend on them either. REQUIRES: `requests` is not empty, and they are in the order of their
// places. Errors: those of reading the stages between; kInvalidArgument for a split, or a stage
// before it, that may depend on a field that is not learned yet.
Result<LearnGroup> NextGroup(const ConfigNode& list, const std::vector<LearnRequest>& requests,
                             const std::filesystem::path& root);

}  // namespace stoker
