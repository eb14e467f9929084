// The key `memory` of `train:`, which commands that do not train read too.
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

  // Returns the bytes; 0 for auto. Errors: kInvalidArgument if it is not a size.
  Result<int64_t> Bytes() const;

  static void Describe(OptionTable<MemoryOptions>& table);
};

// Returns the option in a section `train`, or the default. Errors: kInvalidArgument, with the
// place.
Result<MemoryOptions> MemoryOf(const ConfigNode& train);

// Makes it the budget of the process (WishForDefaultBudget), which all pipelines share; warns if
// another is already in use. Call it only for a recipe whose pipelines are about to be made, not
// for one that is only compared. Errors: those of MemoryOptions::Bytes.
Status WishFor(const MemoryOptions& memory);
// The same for a recipe that is not parsed yet and need not have a section `train`. Errors: those
// of MemoryOf.
Status WishForMemoryOf(const ConfigNode& recipe);

}  // namespace stoker
