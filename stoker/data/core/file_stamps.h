// What a process remembers of files holds as long as these are the same.
#pragma once

#include <string>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns a line for each file that `dataset` reads (DatasetNode::files), those of inputs first:
// its name, size and time of modification. Costs a stat(2) each. For marks that hold beyond the
// process see recipe/file_marks.h.
std::string FileStamps(const Dataset& dataset);

}  // namespace stoker
