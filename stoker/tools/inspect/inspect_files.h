// Inspects many files for `stoker inspect`.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// Summarises the files of `name`: for each format their number, samples and bytes; fields, if all
// of the format have the same; and damage.
Result<Inspection> InspectFiles(const std::string& name, const std::vector<std::string>& files);

}  // namespace stoker
