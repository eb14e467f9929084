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

// Compares the file's checksum with that of the arrays read from it. Returns false if it has no
// checksum. Errors: kDataLoss if they differ.
//   arrays  all of the file's
//   path    what messages call the file
Result<bool> VerifyChecksum(const SafetensorsFile& file, std::span<const NamedArray> arrays,
                            const std::string& path);

}  // namespace stoker
