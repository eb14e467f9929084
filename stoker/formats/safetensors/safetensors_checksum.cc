#include "stoker/formats/safetensors/safetensors_checksum.h"

#include <algorithm>

#include "stoker/io/checksum.h"

namespace stoker {

std::string ChecksumOf(std::span<const NamedArray> arrays) {
  std::vector<const NamedArray*> sorted;
  for (const NamedArray& array : arrays) sorted.push_back(&array);
  std::ranges::sort(sorted, {}, [](const NamedArray* array) { return array->name; });
  uint32_t crc = 0;
  for (const NamedArray* each : sorted) {
    crc = Crc32c(each->name, crc);
    crc = Crc32c(std::span(each->array.data(), each->array.num_bytes()), crc);
  }
  return fmt::format("{:08x}", crc);
}

Result<bool> VerifyChecksum(const SafetensorsFile& file, std::span<const NamedArray> arrays,
                            const std::string& path) {
  const auto stored = file.metadata().find(kSafetensorsChecksum);
  if (stored == file.metadata().end()) return false;
  const std::string crc = ChecksumOf(arrays);
  if (crc == stored->second) return true;
  return DataLoss(
      "{}: is damaged: the CRC-32C of its arrays is {}, it was written with {}; delete it, and let "
      "what wrote it write it again (a finished run does when it is resumed)",
      path, crc, stored->second);
}

}  // namespace stoker
