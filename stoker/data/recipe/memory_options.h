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

  // 0 for auto. Errors: kInvalidArgument if it is no size.
  Result<int64_t> Bytes() const;

  static void Describe(OptionTable<MemoryOptions>& table);
};

// What a section `train` says of it, or the default. Errors: kInvalidArgument, with the place.
Result<MemoryOptions> MemoryOf(const ConfigNode& train);

// Makes it the budget of the process (WishForDefaultBudget), since all pipelines of a process keep
// one; a warning says so where another is in use already. For a recipe whose pipelines are about to
// be made, and no other: one that is only read to be compared must not decide. Errors: those of
// MemoryOptions::Bytes.
Status WishFor(const MemoryOptions& memory);
// The same of a recipe that is not parsed yet and need not have a section `train`. Errors: those of
// MemoryOf.
Status WishForMemoryOf(const ConfigNode& recipe);

}  // namespace stoker
