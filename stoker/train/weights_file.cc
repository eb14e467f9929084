#include "stoker/train/weights_file.h"

#include <algorithm>

#include "stoker/io/checksum.h"

namespace stoker {
namespace {

constexpr const char* kChecksum = "crc32c";

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

}  // namespace

Status WriteWeights(const std::string& path, std::span<const NamedArray> arrays) {
  return WriteSafetensors(path, arrays, {{"format", "pt"}, {kChecksum, ChecksumOf(arrays)}});
}

Result<std::vector<NamedArray>> ReadWeights(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const SafetensorsFile file, SafetensorsFile::Open(path));
  std::vector<NamedArray> arrays;
  for (const SafetensorsEntry& entry : file.entries()) {
    STOKER_ASSIGN_OR_RETURN(Array array, file.Read(entry.name));
    arrays.push_back({entry.name, std::move(array)});
  }
  const auto stored = file.metadata().find(kChecksum);
  if (stored == file.metadata().end()) return arrays;
  if (const std::string crc = ChecksumOf(arrays); crc != stored->second) {
    return DataLoss(
        "{}: is damaged: the CRC-32C of its arrays is {}, it was written with {}; delete it and "
        "resume the run, which writes it again from the last checkpoint",
        path, crc, stored->second);
  }
  return arrays;
}

}  // namespace stoker
