#include "stoker/io/made_directories.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "stoker/io/temporary.h"

namespace stoker {
namespace fs = std::filesystem;
using internal::ParentDirectory;
using internal::WriteError;

Status MadeDirectories::Create(const std::string& path) {
  if (path.empty()) return InvalidArgument("the path of a directory to make is empty; give one");
  fs::path reached;
  for (const fs::path& part : fs::path(path)) {
    reached /= part;
    std::error_code ignored;
    if (fs::is_directory(reached, ignored)) continue;
    STOKER_ASSIGN_OR_RETURN(const ParentDirectory parent, ParentDirectory::Open(reached.string()));
    if (::mkdir(reached.c_str(), 0777) == 0) {
      made_.push_back(reached.string());
    } else if (errno != EEXIST || !fs::is_directory(reached, ignored)) {
      const int error = errno == EEXIST ? ENOTDIR : errno;
      return WriteError(error, path, fmt::format("cannot make the directory {}", reached.string()));
    }
    // Another process may have made it at the same time: then it is flushed twice.
    STOKER_RETURN_IF_ERROR(parent.Flush());
  }
  return OkStatus();
}

Result<bool> MadeDirectories::CreateNew(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) {
    made_.push_back(path);
    return true;
  }
  if (errno == EEXIST) return false;
  return ErrnoStatus(errno, path + ": cannot make the directory");
}

bool MadeDirectories::MadeLast(const std::string& path) const {
  std::error_code ignored;
  return !made_.empty() && fs::equivalent(made_.back(), path, ignored);
}

void MadeDirectories::RemoveEmpty() {
  for (; !made_.empty(); made_.pop_back()) ::rmdir(made_.back().c_str());
}

}  // namespace stoker
