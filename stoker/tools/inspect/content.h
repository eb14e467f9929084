// A file by what is in it, whatever compression is around it.
#pragma once

#include <string>

#include "stoker/base/status.h"

namespace stoker {

// The first bytes of the content, decompressed where the file is compressed: kProbeBytes
// (formats/probe/file_kind.h) of them, or fewer where there are no more.
Result<std::string> ReadContentPrefix(const std::string& path);

}  // namespace stoker
