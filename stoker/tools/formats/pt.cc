#include <fmt/format.h>

#include "stoker/base/printable.h"
#include "stoker/formats/pt/pt_file.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/tensor_list.h"

namespace stoker {
namespace {

// An optimizer may have thousands of settings.
constexpr size_t kValuesShown = 20;

Result<Inspection> InspectPt(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const PtFile file, PtFile::Open(path));
  // Verifies the checksums.
  STOKER_RETURN_IF_ERROR(file.ReadAll().status());
  TensorList tensors;
  for (const PtEntry& entry : file.entries()) tensors.Add(entry.name, entry.dtype, entry.shape);
  Inspection out;
  out.json = {{"file", path},
              {"format", "pt"},
              {"count", tensors.size()},
              {"archive", file.is_archive()},
              {"values", tensors.values()},
              {"bytes", tensors.bytes()},
              {"metadata", file.values()},
              {"fields", tensors.json()}};
  out.text = fmt::format(
      "{}: PyTorch ({}), {}; {}\n", Printable(path),
      file.is_archive() ? "zip archive" : "as before version 1.6", tensors.Totals(),
      file.is_archive() ? "the values match their checksums" : "whole, no checksum of the values");
  out.text += tensors.Table();
  size_t shown = 0;
  for (const auto& [name, value] : file.values()) {
    if (shown++ == kValuesShown) {
      out.text += fmt::format("  and {} more values\n", file.values().size() - kValuesShown);
      break;
    }
    out.text += fmt::format("  value {}: {}\n", Printable(name), Printable(value));
  }
  return out;
}

// Damaged archives count too, where the name says what they should be.
bool IsPt(const ProbedFile& file) {
  if (file.stored == FileKind::kOldTorch) return true;
  if (file.stored != FileKind::kZip) return false;
  const Result<ZipFile> archive = ZipFile::Open(file.path);
  if (archive.ok()) return IsPtArchive(*archive);
  return file.path.ends_with(".pt") || file.path.ends_with(".pth");
}

}  // namespace

const FileFormat kPtFormat = {
    .name = "pt",
    .holds = [](const ProbedFile& file) -> Result<bool> { return IsPt(file); },
    .inspect = [](const ProbedFile& file) { return InspectPt(file.path); },
};

}  // namespace stoker
