// For tests of what is left in a directory.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace stoker {

// Of what lies directly in it, sorted.
inline std::vector<std::string> Names(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stoker
