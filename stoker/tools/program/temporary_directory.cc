#include "stoker/tools/program/temporary_directory.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <string>
#include <utility>

namespace stoker {

Result<TemporaryDirectory> TemporaryDirectory::Create(std::string_view name) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error)
    return FailedPrecondition("no directory for temporary files: {}; set TMPDIR", error.message());
  std::string path = (parent / fmt::format("stoker-{}-XXXXXX", name)).string();
  if (::mkdtemp(path.data()) == nullptr) return ErrnoStatus(errno, "making " + path);
  return TemporaryDirectory(path);
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace stoker
