// Handles files of unknown formats.
#pragma once

#include "stoker/base/status.h"
#include "stoker/tools/formats/file_format.h"

namespace stoker {

// FileFormat::verify for files that inspect can only recognise by their first bytes, or count the
// lines of. Compressed files have been read to their end; files named as pictures are decoded.
Status VerifyUnknown(const ProbedFile& file, const Inspection& inspected, Verification& out);

}  // namespace stoker
