#include <fmt/format.h>

#include "stoker/formats/safetensors/safetensors.h"
#include "stoker/formats/safetensors/safetensors_checksum.h"
#include "stoker/tools/inspection.h"
#include "stoker/tools/text.h"

namespace stoker {

Result<Inspection> InspectSafetensors(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const SafetensorsFile file, SafetensorsFile::Open(path));
  STOKER_ASSIGN_OR_RETURN(const std::vector<NamedArray> arrays, file.ReadAll());
  STOKER_ASSIGN_OR_RETURN(const bool verified, VerifyChecksum(file, arrays, path));
  Inspection out;
  Json tensors = Json::array();
  std::vector<std::vector<std::string>> rows = {{"tensor", "type", "shape", "size"}};
  int64_t values = 0;
  uint64_t bytes = 0;
  for (const SafetensorsEntry& entry : file.entries()) {
    tensors.push_back({{"name", entry.name},
                       {"dtype", DTypeName(entry.dtype)},
                       {"shape", entry.shape},
                       {"bytes", entry.bytes}});
    rows.push_back({entry.name, std::string(DTypeName(entry.dtype)), ShapeToString(entry.shape),
                    ByteText(entry.bytes)});
    values += NumValues(entry.shape);
    bytes += entry.bytes;
  }
  out.json = {{"file", path},        {"kind", "safetensors"},       {"values", values},
              {"bytes", bytes},      {"metadata", file.metadata()}, {"tensors", std::move(tensors)},
              {"verified", verified}};
  out.text = fmt::format(
      "{}: safetensors, {} tensors, {} values, {}; {}\n", path, file.entries().size(),
      WithThousands(static_cast<double>(values)), ByteText(bytes),
      verified ? "the values match their checksum" : "header whole, no checksum of the values");
  out.text += TableText(rows, 2);
  for (const auto& [key, value] : file.metadata()) {
    out.text += fmt::format("  metadata {}: {}\n", key, value);
  }
  return out;
}

}  // namespace stoker
