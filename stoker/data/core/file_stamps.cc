#include "stoker/data/core/file_stamps.h"

#include <fmt/format.h>

#include <filesystem>

namespace stoker {

std::string FileStamps(const Dataset& dataset) {
  std::string text;
  for (const Dataset& input : dataset.node().inputs()) text += FileStamps(input);
  for (const std::string& file : dataset.node().files()) {
    std::error_code ignored;
    const uintmax_t size = std::filesystem::file_size(file, ignored);
    const auto written = std::filesystem::last_write_time(file, ignored);
    text += fmt::format("{}\n{} {}\n", file, size, written.time_since_epoch().count());
  }
  return text;
}

}  // namespace stoker
