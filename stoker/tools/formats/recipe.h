// Recipes, as `stoker inspect` describes them.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// The sections, and each pipeline stage by stage with the elements that come out. Opens the data
// files for their headers. `assignments` are applied first (`--set`).
Result<Inspection> InspectRecipe(const std::string& path,
                                 const std::vector<std::string>& assignments = {});

}  // namespace stoker
