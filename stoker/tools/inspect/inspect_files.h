// What `stoker inspect` finds out about many files at once.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// All of these files, which `name` stands for, in sum: of each format how many, their samples and
// bytes; fields where all of the format have the same; what is damaged.
Result<Inspection> InspectFiles(const std::string& name, const std::vector<std::string>& files);

}  // namespace stoker
