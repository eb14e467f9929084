// A checksum for safetensors files, whose format has none: CRC-32C in eight hexadecimal digits,
// stored in the metadata under "crc32c", over every array's name and bytes in the order of the
// names.
#pragma once

#include <span>
#include <string>

#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"

namespace stoker {

inline constexpr const char* kSafetensorsChecksum = "crc32c";

std::string ChecksumOf(std::span<const NamedArray> arrays);

// Compares what the file says with what was read from it. False where it holds no checksum. Errors:
// kDataLoss where it differs.
//   arrays  all of the file's
//   path    what messages call the file
Result<bool> VerifyChecksum(const SafetensorsFile& file, std::span<const NamedArray> arrays,
                            const std::string& path);

}  // namespace stoker
