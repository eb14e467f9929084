#include "stoker/data/core/files_read.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <span>

namespace stoker {
namespace {

namespace fs = std::filesystem;

Status CheckFileNotRead(const Dataset& dataset, const FileId& target, const fs::path& path,
                        std::string_view who) {
  for (const std::string& file : dataset.node().files()) {
    if (FileIdOf(file) != target) continue;  // what is not there is not written over
    return InvalidArgument("{}: the pipeline reads {}; give {} another path", who, path.string(),
                           who);
  }
  for (const Dataset& input : dataset.node().inputs())
    STOKER_RETURN_IF_ERROR(CheckFileNotRead(input, target, path, who));
  return OkStatus();
}

// The value of `node`, or of what is in it, that names the file; nullptr where none does.
const ConfigNode* FindNameOf(const FileId& file, const ConfigNode& node,
                             std::span<const fs::path> folders) {
  if (node.kind == ConfigNode::Kind::kScalar) {
    const bool names = !node.scalar.empty() && std::ranges::any_of(folders, [&](const fs::path& f) {
      return FileIdOf(f / node.scalar) == file;
    });
    return names ? &node : nullptr;
  }
  for (const ConfigNode& item : node.items)
    if (const ConfigNode* found = FindNameOf(file, item, folders)) return found;
  for (const ConfigNode::Entry& entry : node.entries)
    if (const ConfigNode* found = FindNameOf(file, entry.value, folders)) return found;
  return nullptr;
}

}  // namespace

std::optional<FileId> FileIdOf(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileId(found.st_dev, found.st_ino);
}

Status CheckNotRead(const Dataset& dataset, const fs::path& path, std::string_view who) {
  const std::optional<FileId> target = FileIdOf(path);
  if (!target) return OkStatus();  // no file, so none that is read
  return CheckFileNotRead(dataset, *target, path, who);
}

Status CheckNotNamed(const ConfigNode& recipe, const fs::path& folder, const fs::path& path,
                     std::string_view who) {
  const std::optional<FileId> target = FileIdOf(path);
  if (!target) return OkStatus();
  const ConfigNode* const data = recipe.Find("data");
  const ConfigNode* const root = data != nullptr ? data->Find("root") : nullptr;
  const std::array<fs::path, 2> folders = {folder, folder / (root ? root->scalar : "")};
  const ConfigNode* const found = FindNameOf(*target, recipe, folders);
  if (found == nullptr) return OkStatus();
  return InvalidArgument("{}: {}: the recipe reads {}; give {} another path",
                         found->location.ToString(), who, path.string(), who);
}

}  // namespace stoker
