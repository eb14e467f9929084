#include <fmt/format.h>

#include "stoker/formats/safetensors/safetensors.h"
#include "stoker/formats/safetensors/safetensors_checksum.h"
#include "stoker/tools/inspection.h"
#include "stoker/tools/tensor_list.h"

namespace stoker {

Result<Inspection> InspectSafetensors(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const SafetensorsFile file, SafetensorsFile::Open(path));
  STOKER_ASSIGN_OR_RETURN(const std::vector<NamedArray> arrays, file.ReadAll());
  STOKER_ASSIGN_OR_RETURN(const bool verified, VerifyChecksum(file, arrays, path));
  TensorList tensors;
  for (const SafetensorsEntry& entry : file.entries()) {
    tensors.Add(entry.name, entry.dtype, entry.shape);
  }
  Inspection out;
  out.json = {{"file", path},
              {"format", "safetensors"},
              {"count", tensors.size()},
              {"values", tensors.values()},
              {"bytes", tensors.bytes()},
              {"metadata", file.metadata()},
              {"fields", tensors.json()},
              {"verified", verified}};
  out.text = fmt::format(
      "{}: safetensors, {}; {}\n", path, tensors.Totals(),
      verified ? "the values match their checksum" : "header whole, no checksum of the values");
  out.text += tensors.Table();
  for (const auto& [key, value] : file.metadata()) {
    out.text += fmt::format("  metadata {}: {}\n", key, value);
  }
  return out;
}

}  // namespace stoker
