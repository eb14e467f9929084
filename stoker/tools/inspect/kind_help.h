// Describes the content of registries: operators, models, optimizers, schedules.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/registry.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// Describes all `kinds`, grouped, a line for each and one for each of its options; if `name` is not
// empty, only the kind or group of this name. `noun`: the word for them in the error for an unknown
// name.
Result<Inspection> DescribeKinds(const std::vector<KindDescription>& kinds, const std::string& name,
                                 const std::string& noun);

}  // namespace stoker
