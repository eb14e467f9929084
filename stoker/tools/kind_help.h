// Printing what registries hold: operators, models, optimizers, schedules.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/registry.h"
#include "stoker/tools/inspection.h"

namespace stoker {

// All of `kinds`, grouped, a line for each and one for each of its options; or only the one called
// `name`, where that is not empty. `noun` is what the error for an unknown name calls them.
Result<Inspection> DescribeKinds(const std::vector<KindDescription>& kinds, const std::string& name,
                                 const std::string& noun);

}  // namespace stoker
