// Building one entry of a pipeline's list, for whoever goes through such a list.
#pragma once

#include <optional>
#include <span>

#include "stoker/base/config.h"
#include "stoker/data/options/registry.h"

namespace stoker {

// What the entry at `location` makes of `input` (nothing in front of a source). Errors: those of
// the operator, with the location.
//   before  the entries in front of it, every option filled in (stages_before.h)
Result<Dataset> BuildStage(const OperatorRegistry::Configured& stage,
                           const ConfigLocation& location, std::span<const ConfigNode> before,
                           const std::optional<Dataset>& input);

}  // namespace stoker
