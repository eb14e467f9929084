// Verifies the pictures in a tar archive, which has only checksums of its headers.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/tools/formats/verification.h"

namespace stoker {

// Decodes the members of the archive `path` that are named as pictures, counts them in `out`, and
// adds those that are damaged. Errors: those of TarReader and of reading; kResourceExhausted if
// there is no memory to decode one.
Status VerifyTarPictures(const std::string& path, Verification& out);

}  // namespace stoker
