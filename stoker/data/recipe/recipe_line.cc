#include "stoker/data/recipe/recipe_line.h"

#include <fmt/format.h>

namespace stoker {

std::string RecipeLineOf(FileKind kind, const std::string& path) {
  switch (kind) {
    case FileKind::kStoker: return fmt::format("stoker: {}", path);
    case FileKind::kElements: return fmt::format("snapshot: {}", path);
    case FileKind::kIdx: return fmt::format("idx: {{images: {}, labels: ...}}", path);
    case FileKind::kTar: return fmt::format("webdataset: {}", path);
    case FileKind::kLmdb: return fmt::format("lmdb: {}", path);
    case FileKind::kHdf5: return fmt::format("hdf5: {{files: {}, fields: {{x: /...}}}}", path);
    case FileKind::kRecordIo: return fmt::format("recordio: {}", path);
    case FileKind::kNumpy: return fmt::format("npy: {{fields: {{x: {}}}}}", path);
    case FileKind::kZip: return fmt::format("npz: {}", path);
    case FileKind::kPng:
    case FileKind::kJpeg:
    case FileKind::kWebp: return "list: {path: ...}";
    case FileKind::kJson: return fmt::format("jsonl: {{files: {}, fields: {{...}}}}", path);
    default: return fmt::format("csv: {{files: {}, fields: {{...}}}}", path);
  }
}

}  // namespace stoker
