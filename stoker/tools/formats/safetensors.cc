#include "stoker/formats/safetensors/safetensors.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/formats/safetensors/safetensors_checksum.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/tensor_list.h"

namespace stoker {
namespace {

Result<Inspection> InspectSafetensors(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const SafetensorsFile file, SafetensorsFile::Open(path));
  TensorList tensors;
  std::vector<NamedArray> arrays;
  std::string unread;  // types that we do not have
  for (const SafetensorsEntry& entry : file.entries()) {
    if (!entry.dtype) {
      tensors.Add(entry.name, entry.type, entry.shape, entry.bytes);
      unread += fmt::format("  array {}: of type {}, which is not read\n", entry.name, entry.type);
      continue;
    }
    tensors.Add(entry.name, *entry.dtype, entry.shape);
    STOKER_ASSIGN_OR_RETURN(Array array, file.Read(entry.name));
    arrays.push_back({entry.name, std::move(array)});
  }
  bool verified = false;
  if (unread.empty()) {
    STOKER_ASSIGN_OR_RETURN(verified, VerifyChecksum(file, arrays, path));
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
      "{}: safetensors, {}; {}\n", Printable(path), tensors.Totals(),
      verified ? "the values match their checksum" : "header whole, no checksum of the values");
  out.text += tensors.Table() + unread;
  for (const auto& [key, value] : file.metadata()) {
    out.text += fmt::format("  metadata {}: {}\n", Printable(key), Printable(value));
  }
  return out;
}

}  // namespace

const FileFormat kSafetensorsFormat = {
    .name = "safetensors",
    .holds = [](const ProbedFile& file) -> Result<bool> {
      return file.stored == FileKind::kSafetensors;
    },
    .inspect = [](const ProbedFile& file) { return InspectSafetensors(file.path); },
};

}  // namespace stoker
