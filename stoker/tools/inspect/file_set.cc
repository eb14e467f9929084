#include "stoker/tools/inspect/file_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "stoker/data/core/file_patterns.h"
#include "stoker/io/standard_input.h"
#include "stoker/tools/formats/n5.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLmdbData = "data.mdb", kLmdbLock = "lock.mdb";

bool IsThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool IsDirectory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// The file of an LMDB database that has the directory to itself.
Result<bool> IsDatabase(const fs::path& directory) {
  if (!IsThere(directory / kLmdbData)) return false;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename() != kLmdbData && it->path().filename() != kLmdbLock) return false;
  }
  if (error) return ErrnoStatus(error.value(), directory.string() + ": cannot be listed");
  return true;
}

// Adds what is in a directory and below it.
Status AddAllIn(const std::string& directory, std::vector<std::string>& files) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool directory_inside = IsDirectory(it->path());
    const bool array = directory_inside && IsN5(it->path().string());
    if (directory_inside && (name.starts_with('.') || array)) it.disable_recursion_pending();
    if (name.starts_with('.') || (directory_inside && !array)) continue;
    if (name == kLmdbLock && IsThere(it->path().parent_path() / kLmdbData)) continue;
    found.push_back(it->path().string());
  }
  if (error) return ErrnoStatus(error.value(), directory + ": cannot be listed");
  std::ranges::sort(found);
  files.insert(files.end(), std::make_move_iterator(found.begin()),
               std::make_move_iterator(found.end()));
  return OkStatus();
}

}  // namespace

Result<FileSet> FilesOf(const std::string& name) {
  FileSet set;
  if (IsPipedIn(name)) STOKER_RETURN_IF_ERROR(MakeStandardInputAFile());
  STOKER_ASSIGN_OR_RETURN(
      const std::vector<std::string> paths,
      FilePatterns(name).Expand("files", /*sorted=*/false, FilePatterns::Kind::kAny));
  set.several = paths.size() > 1 || paths.front() != name;
  for (const std::string& path : paths) {
    if (!IsDirectory(path) || IsN5(path)) {
      set.files.push_back(path);
      continue;
    }
    STOKER_ASSIGN_OR_RETURN(const bool database, IsDatabase(path));
    if (database) {
      set.files.push_back((fs::path(path) / kLmdbData).string());
      continue;
    }
    set.several = true;
    STOKER_RETURN_IF_ERROR(AddAllIn(path, set.files));
  }
  if (!set.files.empty()) return set;
  return NotFound("{}: there is no file in it; check the path", name);
}

}  // namespace stoker
