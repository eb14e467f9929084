// Files whose lines are rows: CSV, JSON lines, LIBSVM.
#pragma once

#include "stoker/tools/formats/probed_file.h"

namespace stoker {

// Whether the file's name says that it is one of them.
bool IsNamedAsRows(const ProbedFile& file);

}  // namespace stoker
