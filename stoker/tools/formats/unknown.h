// What holds for files of no format that Stoker could check.
#pragma once

#include "stoker/base/status.h"
#include "stoker/tools/formats/file_format.h"

namespace stoker {

// FileFormat::verify of what inspect can only name by its first bytes, or count the lines of. What
// is compressed has been read to the end of that; what is named as a picture is decoded.
Status VerifyUnknown(const ProbedFile& file, const Inspection& inspected, Verification& out);

}  // namespace stoker
