// Printing what registries hold: operators, models, optimizers, schedules.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/registry.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// All of `kinds`, grouped, a line for each and one for each of its options; where `name` is not
// empty, only the one called so, or those of the group called so. `noun` is what the error for an
// unknown name calls them.
Result<Inspection> DescribeKinds(const std::vector<KindDescription>& kinds, const std::string& name,
                                 const std::string& noun);

}  // namespace stoker
