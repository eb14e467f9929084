#include "stoker/train/weights_file.h"

#include "stoker/formats/safetensors/safetensors_checksum.h"

namespace stoker {

Status WriteWeights(const std::string& path, std::span<const NamedArray> arrays) {
  return WriteSafetensors(path, arrays,
                          {{"format", "pt"}, {kSafetensorsChecksum, ChecksumOf(arrays)}});
}

Result<std::vector<NamedArray>> ReadWeights(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const SafetensorsFile file, SafetensorsFile::Open(path));
  STOKER_RETURN_IF_ERROR(VerifyChecksum(file, path).status());
  std::vector<NamedArray> arrays;
  for (const SafetensorsEntry& entry : file.entries()) {
    STOKER_ASSIGN_OR_RETURN(Array array, file.Read(entry.name));
    arrays.push_back({entry.name, std::move(array)});
  }
  return arrays;
}

}  // namespace stoker
