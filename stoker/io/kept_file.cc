#include "stoker/io/kept_file.h"

#include <filesystem>
#include <system_error>

#include "stoker/base/remote_path.h"
#include "stoker/io/file.h"

namespace stoker {

Result<std::string> ReadKeptTextFile(const std::string& path, uint64_t limit) {
  namespace fs = std::filesystem;
  if (IsRemotePath(path)) return ReadTextFile(path, limit);
  std::error_code error;
  const fs::file_status there = fs::status(path, error);
  // What is missing or cannot be looked at is for ReadTextFile to name.
  if (fs::status_known(there) && fs::exists(there) && !fs::is_regular_file(there)) {
    return FailedPrecondition(
        "{}: is a {}, and a file belongs here; put the file back, or remove what is in its place",
        path, fs::is_directory(there) ? "directory" : "pipe, socket or device");
  }
  return ReadTextFile(path, limit);
}

}  // namespace stoker
