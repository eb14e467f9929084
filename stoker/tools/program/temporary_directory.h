// A directory for what a command writes and nobody keeps.
#pragma once

#include <filesystem>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// The destructor removes it with all that is in it.
class TemporaryDirectory {
 public:
  // Makes stoker-NAME-XXXXXX in TMPDIR, or in /tmp. Errors: those of mkdtemp(3).
  static Result<TemporaryDirectory> Create(std::string_view name);

  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;  // empty: moved away
};

}  // namespace stoker
