// Files by name and by pattern, as an option.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/data/core/option_object.h"

namespace stoker {

// In C++: `.path = "logs/*.txt"`, or several in braces; in a recipe a text or a list of texts,
// relative to the root. A text is a path, a pattern (io/glob.h), several with braces (io/braces.h),
// or all shards of a set, "x@128" (io/shards.h); each may be on a server (base/remote_path.h;
// patterns only if its store has lists), and "-" is standard input.
class FilePatterns {
 public:
  static constexpr std::string_view kTypeName = "path, pattern or list of them";

  FilePatterns() = default;
  FilePatterns(const char* pattern) : patterns_{pattern} {}  // NOLINT: implicit by design
  FilePatterns(std::string pattern) : patterns_{std::move(pattern)} {}  // NOLINT: implicit
  FilePatterns(std::initializer_list<std::string> patterns) : patterns_(patterns) {}
  explicit FilePatterns(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  bool empty() const { return patterns_.empty(); }
  std::string ToString() const;

  enum class Kind { kFile, kAny };  // a path may be a directory

  // Returns the files in the order of the patterns, those of one pattern sorted by their bytes;
  // with `sorted`, all of them sorted. `who` begins the message if no file is named. Errors: also
  // those of ExpandGlob and ExpandBraces, and kNotFound for a missing file, or a missing shard that
  // a pattern would match.
  Result<std::vector<std::string>> Expand(std::string_view who, bool sorted,
                                          Kind kind = Kind::kFile) const;

  // See OptionObject.
  Status Read(const ConfigNode& node) { return ReadOption(node, patterns_); }
  ConfigNode Write() const { return WriteOption(patterns_); }
  void Resolve(const std::filesystem::path& root);

 private:
  std::vector<std::string> patterns_;
};

}  // namespace stoker
