// Sizes as people write them.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

// "50GB", "32 MiB", "1000000": bytes. k, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of 1024,
// in any case. Errors: kInvalidArgument, with the text.
Result<int64_t> ParseByteSize(const std::string& text);

// The inverse, for people and for ParseByteSize: "50GB", "32MiB".
std::string ByteSizeText(int64_t bytes);

}  // namespace stoker
