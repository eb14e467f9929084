// Byte sizes as text.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Returns the bytes that "50GB", "32 MiB" or "1000000" mean. k, M, G and T are powers of 1000, Ki,
// Mi, Gi and Ti of 1024, in upper or lower case. Errors: kInvalidArgument, with the text.
Result<int64_t> ParseByteSize(const std::string& text);

// The inverse of ParseByteSize: "50GB", "32MiB".
std::string ByteSizeText(int64_t bytes);

}  // namespace stoker
