#include "stoker/io/glob.h"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

namespace stoker {
namespace {

namespace fs = std::filesystem;

// glob(3) hands its error callback nothing of the caller's.
thread_local Status directory_error;

int KeepError(const char* path, int error_number) {
  // A part of the pattern that matches a file, where a directory is wanted, just does not match.
  if (error_number == ENOENT || error_number == ENOTDIR) return 0;
  directory_error = ErrnoStatus(error_number, std::string(path) + ": cannot list the directory");
  return 1;
}

// The deepest directory of the pattern that has no wildcard in it.
fs::path PlainPart(const std::string& pattern) {
  fs::path plain;
  const fs::path path(pattern);
  for (const fs::path& part : path.parent_path()) {
    if (IsGlob(part.string())) break;
    plain /= part;
  }
  return plain.empty() ? fs::path(".") : plain;
}

Status NothingMatches(const std::string& pattern) {
  const fs::path folder = PlainPart(pattern);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    return NotFound("{}: no file matches: there is no directory {}; check the path", pattern,
                    folder.string());
  }
  return NotFound("{}: no file matches, though the directory {} is there; check the pattern",
                  pattern, folder.string());
}

}  // namespace

bool IsGlob(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

std::string EscapeGlob(const std::string& path) {
  std::string escaped;
  for (const char c : path) {
    if (std::string_view("*?[\\{}").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string UnescapeGlob(const std::string& pattern) {
  std::string path;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    path += pattern[i];
  }
  return path;
}

Result<std::vector<std::string>> ExpandGlob(const std::string& pattern) {
  directory_error = OkStatus();
  glob_t found{};
  const int problem = ::glob(pattern.c_str(), GLOB_NOSORT, KeepError, &found);
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, globfree);
  if (!directory_error.ok()) return directory_error;
  if (problem == GLOB_NOMATCH) return NothingMatches(pattern);
  if (problem != 0)
    return ResourceExhausted("{}: no memory for the names that match; name fewer", pattern);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::ranges::sort(paths);
  return paths;
}

}  // namespace stoker
