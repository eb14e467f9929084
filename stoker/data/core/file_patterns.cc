#include "stoker/data/core/file_patterns.h"

#include <algorithm>

#include "stoker/base/path_check.h"
#include "stoker/base/remote_path.h"
#include "stoker/io/braces.h"
#include "stoker/io/file.h"
#include "stoker/io/glob.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_names.h"
#include "stoker/io/shards.h"
#include "stoker/io/standard_input.h"

namespace stoker {
namespace {

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Status CheckThere(const std::string& path, FilePatterns::Kind kind) {
  std::error_code ignored;
  if (kind == FilePatterns::Kind::kAny && std::filesystem::is_directory(path, ignored))
    return OkStatus();
  return File::Open(path).status();
}

// Expands a pattern without braces.
Status ExpandNames(const std::string& pattern, FilePatterns::Kind kind,
                   std::vector<std::string>& paths) {
  if (IsGlob(pattern)) {
    STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> found, ExpandGlob(pattern));
    STOKER_RETURN_IF_ERROR(CheckShards(pattern, found));
    paths.insert(paths.end(), found.begin(), found.end());
    return OkStatus();
  }
  const std::string path = UnescapeGlob(pattern);
  const std::vector<std::string> shards =
      Exists(path) ? std::vector<std::string>{} : ShardsOf(path);
  for (const std::string& name : shards.empty() ? std::vector<std::string>{path} : shards) {
    STOKER_RETURN_IF_ERROR(CheckThere(name, kind));
    paths.push_back(name);
  }
  return OkStatus();
}

// An asterisk or a set of characters in the path; a `?` begins the query, in which they are its
// own.
Status CheckNoHttpPattern(const std::string& address) {
  std::string path = address.substr(0, address.find_first_of("?#"));
  for (size_t at; (at = path.find('\\')) != path.npos;) path.erase(at, 2);
  if (!IsGlob(path.substr(path.find("://") + 3))) return OkStatus();
  return InvalidArgument(
      "{}: a pattern, but what is on a server cannot be listed over HTTP; name the files, as in "
      "x-{{000..146}}.tar or x@128.tar, write \\* or %2A for a name that has the character, or "
      "read them from S3",
      NameForMessages(address));
}

// Expands a pattern of files on servers. Names are checked together, since each costs a round trip.
Status ExpandRemotePattern(const std::string& pattern, std::vector<std::string>& paths) {
  std::vector<std::string> patterns = {pattern}, named;
  if (HasBraces(pattern)) {
    STOKER_ASSIGN_OR_RETURN(patterns, ExpandBraces(pattern));
  }
  for (const std::string& one : patterns) {
    if (IsRemoteGlob(one)) {
      STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> found, ExpandRemoteGlob(one));
      STOKER_RETURN_IF_ERROR(CheckShards(one, found));
      named.insert(named.end(), found.begin(), found.end());
      continue;
    }
    STOKER_RETURN_IF_ERROR(CheckNoHttpPattern(one));
    const std::string path = UnescapeGlob(one);
    const std::vector<std::string> shards = ShardsOf(path);
    if (shards.empty()) {
      named.push_back(path);
    } else {
      named.insert(named.end(), shards.begin(), shards.end());
    }
  }
  STOKER_RETURN_IF_ERROR(CheckRemoteFiles(named));
  paths.insert(paths.end(), named.begin(), named.end());
  return OkStatus();
}

// A file that is there is meant by its name, whatever characters that has.
Status ExpandPattern(const std::string& pattern, FilePatterns::Kind kind,
                     std::vector<std::string>& paths) {
  STOKER_RETURN_IF_ERROR(CheckNoZeroByte(pattern));
  if (IsRemotePath(pattern)) return ExpandRemotePattern(pattern, paths);
  if (IsPipedIn(pattern)) {
    paths.push_back(pattern);
    return OkStatus();
  }
  if (Exists(pattern) || (!IsGlob(pattern) && !HasBraces(pattern) && ShardsOf(pattern).empty())) {
    STOKER_RETURN_IF_ERROR(CheckThere(pattern, kind));
    paths.push_back(pattern);
    return OkStatus();
  }
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> patterns, ExpandBraces(pattern));
  for (const std::string& one : patterns) STOKER_RETURN_IF_ERROR(ExpandNames(one, kind, paths));
  return OkStatus();
}

}  // namespace

std::string FilePatterns::ToString() const {
  return patterns_.size() == 1 ? patterns_.front() : fmt::format("{} patterns", patterns_.size());
}

Result<std::vector<std::string>> FilePatterns::Expand(std::string_view who, bool sorted,
                                                      Kind kind) const {
  if (patterns_.empty())
    return InvalidArgument("{}: no file is named; give a path or a pattern, such as '*.txt'", who);
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns_)
    STOKER_RETURN_IF_ERROR(ExpandPattern(pattern, kind, paths));
  if (sorted) std::ranges::sort(paths);
  return paths;
}

void FilePatterns::Resolve(const std::filesystem::path& root) {
  for (std::string& pattern : patterns_) {
    std::filesystem::path path = pattern;
    // What the root's name has of the pattern's characters stands for itself.
    const bool plain = !IsGlob(pattern) && !HasBraces(pattern);
    ResolvePath(path, plain ? root : std::filesystem::path(EscapeGlob(root.string())));
    pattern = path.string();
  }
}

}  // namespace stoker
