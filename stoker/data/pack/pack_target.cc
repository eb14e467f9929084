#include "stoker/data/pack/pack_target.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "stoker/data/pack/pack_format.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/temporary.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

bool IsPacked(const fs::directory_entry& entry) {
  std::error_code ignored;
  const std::string name = entry.path().filename().string();
  return entry.symlink_status(ignored).type() == fs::file_type::regular &&
         std::ranges::any_of(PackFormats(), [&](const PackFormat& format) {
           return format.writes != nullptr && format.writes(name);
         });
}

// The first entry of the directory `path` that no packing has written; empty if there is none.
Result<std::string> ForeignEntry(const std::string& path) {
  std::error_code error;
  std::string first;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if ((first.empty() || name < first) && !IsPacked(*it)) first = name;
  }
  if (error) return ErrnoStatus(error.value(), path + ": cannot be listed");
  return first;
}

// Leaves what had the name under `made`, if it could not be removed at once.
Status Exchange(const std::string& made, const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const internal::ParentDirectory parent,
                          internal::ParentDirectory::Open(path));
  std::error_code ignored;
  const bool exchanged = StandsInTheWay(path, fs::is_directory(made, ignored));
  bool placed =
      (exchanged ? ::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE)
                 : std::rename(made.c_str(), path.c_str())) == 0;
  if (!placed && exchanged && (errno == EINVAL || errno == ENOSYS)) {
    STOKER_RETURN_IF_ERROR(RemoveAtomically(path));
    placed = std::rename(made.c_str(), path.c_str()) == 0;
  }
  if (placed) return parent.Flush();
  return internal::WriteError(errno, path, "cannot give the finished file its name");
}

}  // namespace

Status CheckTargetsAreNotRead(const std::vector<std::string>& targets,
                              const std::vector<std::string>& inputs) {
  std::map<FileId, const std::string*> replaced;
  const auto note = [&](const std::string& path, const std::string& target) {
    if (const std::optional<FileId> id = FileIdOf(path)) replaced.emplace(*id, &target);
  };
  for (const std::string& target : targets) {
    note(target, target);
    std::error_code error;
    for (fs::recursive_directory_iterator it(target, error), end; !error && it != end;
         it.increment(error)) {
      note(it->path().string(), target);
    }
  }
  if (replaced.empty()) return OkStatus();
  for (const std::string& input : inputs) {
    const std::optional<FileId> id = FileIdOf(input);
    const auto found = id ? replaced.find(*id) : replaced.end();
    if (found == replaced.end()) continue;
    return FailedPrecondition("{}: is read by this pipeline; give another name", *found->second);
  }
  return OkStatus();
}

Status CheckTargetsMayGo(const std::vector<std::string>& targets) {
  for (const std::string& target : targets) {
    std::error_code ignored;
    // Of a target that is a link, only the link is removed.
    if (fs::symlink_status(target, ignored).type() != fs::file_type::directory) continue;
    STOKER_ASSIGN_OR_RETURN(const std::string foreign, ForeignEntry(target));
    if (foreign.empty()) continue;
    return FailedPrecondition(
        "{}: this directory holds '{}', which no packing writes, so it is not replaced; give "
        "another name, or move that elsewhere",
        target, foreign);
  }
  return OkStatus();
}

bool StandsInTheWay(const std::string& path, bool of_directory) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ||
         (of_directory && fs::exists(fs::symlink_status(path, ignored)));
}

Status TakePlace(const std::string& made, const std::string& path) {
  // Hours may have passed since it was asked first.
  Status status = CheckTargetsMayGo({path});
  if (status.ok()) status = Exchange(made, path);
  // Now what was replaced, if there is something left.
  std::error_code error;
  fs::remove_all(made, error);
  if (!status.ok() || !error) return status;
  return internal::WriteError(error.value(), path, "cannot remove all of what it replaced");
}

}  // namespace stoker
