#include "stoker/train/weights_file.h"

#include "stoker/formats/safetensors/safetensors_checksum.h"

namespace stoker {

Status WriteWeights(const std::string& path, std::span<const NamedArray> arrays) {
  return WriteSafetensors(path, arrays,
                          {{"format", "pt"}, {kSafetensorsChecksum, ChecksumOf(arrays)}});
}

Result<std::vector<NamedArray>> ReadWeights(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const SafetensorsFile file, SafetensorsFile::Open(path));
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> arrays, file.ReadAll());
  STOKER_RETURN_IF_ERROR(VerifyChecksum(file, arrays, path).status());
  return arrays;
}

}  // namespace stoker
