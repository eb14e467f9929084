// For tests that look into a directory.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace stoker {

// Returns the names in the directory itself, sorted.
inline std::vector<std::string> Names(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stoker
