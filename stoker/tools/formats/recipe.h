// Describes recipes for `stoker inspect`.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// Describes the sections, and each pipeline stage by stage with its output. Reads the headers of
// data files. Applies `assignments` (`--set`) first.
Result<Inspection> InspectRecipe(const std::string& path,
                                 const std::vector<std::string>& assignments = {});

}  // namespace stoker
