// The section `memory` of `train:`, which commands that do not train know too.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/config.h"
#include "stoker/base/options.h"
#include "stoker/base/status.h"

namespace stoker {

// memory: 2GiB
struct MemoryOptions {
  static constexpr std::string_view kName = "memory";
  std::string limit = "auto";

  static void Describe(OptionTable<MemoryOptions>& table);
};

// The bytes that `memory` of a section `train` says, 0 for auto. Errors: kInvalidArgument, with the
// place.
Result<int64_t> MemoryOf(const ConfigNode& train);
// The same of a whole recipe, which need not have the section.
Result<int64_t> TrainMemoryOf(const ConfigNode& recipe);

// Makes it the budget of the process (WishForDefaultBudget), since all pipelines of a process keep
// one; a warning says so where another is in use already. For a recipe whose pipelines are about to
// be made, and no other: one that is only read to be compared must not decide. Errors: as above.
Status WishForMemoryOf(const ConfigNode& recipe);

}  // namespace stoker
