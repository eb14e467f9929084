// A folder of small pictures that differ. Only tests include it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker {

// Returns a PNM picture of `width` x `height` pixels of three channels, whose values count up from
// `first`.
inline std::string SmallPicture(int width, int height, int first) {
  std::string ppm = "P6 " + std::to_string(width) + " " + std::to_string(height) + " 255\n";
  for (int i = 0; i < width * height * 3; ++i) ppm += static_cast<char>(first + i);
  return ppm;
}

// Writes a file below `dir`, and the folders that it needs.
inline void WriteBelow(const TempDir& dir, std::string_view name, std::string_view bytes) {
  const std::filesystem::path path = dir.path() / name;
  std::filesystem::create_directories(path.parent_path());
  STOKER_ASSERT_OK(WriteFileAtomically(path.string(), bytes));
}

}  // namespace stoker
