// Builds one entry of a pipeline's list.
#pragma once

#include <optional>
#include <span>

#include "stoker/base/config.h"
#include "stoker/data/options/registry.h"

namespace stoker {

// Builds the entry at `location` over `input` (nothing for a source). Errors: those of the
// operator, with the location.
//   before  the preceding entries, every option filled in (stages_before.h)
Result<Dataset> BuildStage(const OperatorRegistry::Configured& stage,
                           const ConfigLocation& location, std::span<const ConfigNode> before,
                           const std::optional<Dataset>& input);

}  // namespace stoker
