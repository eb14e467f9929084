#include "stoker/data/file_patterns.h"

#include <algorithm>

#include "stoker/io/file.h"
#include "stoker/io/glob.h"

namespace stoker {

std::string FilePatterns::ToString() const {
  return patterns_.size() == 1 ? patterns_.front() : fmt::format("{} patterns", patterns_.size());
}

Result<std::vector<std::string>> FilePatterns::Expand(std::string_view who, bool sorted) const {
  if (patterns_.empty())
    return InvalidArgument("{}: no file is named; give a path or a pattern, such as '*.txt'", who);
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns_) {
    std::error_code ignored;
    if (!IsGlob(pattern) || std::filesystem::exists(pattern, ignored)) {
      STOKER_RETURN_IF_ERROR(File::Open(pattern).status());
      paths.push_back(pattern);
      continue;
    }
    STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> found, ExpandGlob(pattern));
    paths.insert(paths.end(), found.begin(), found.end());
  }
  if (sorted) std::ranges::sort(paths);
  return paths;
}

void FilePatterns::Resolve(const std::filesystem::path& root) {
  for (std::string& pattern : patterns_) {
    std::filesystem::path path = pattern;
    // What the root's name has of the pattern's characters stands for itself.
    ResolvePath(path, IsGlob(pattern) ? std::filesystem::path(EscapeGlob(root.string())) : root);
    pattern = path.string();
  }
}

}  // namespace stoker
