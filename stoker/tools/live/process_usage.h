// What this process has used until now, read from /proc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace stoker {

// What cannot be read is empty.
struct ProcessUsage {
  std::optional<double> cpu_seconds;
  std::optional<double> start_seconds;  // since 1970
  std::optional<int64_t> resident_bytes, virtual_bytes, threads;
  std::optional<int64_t> open_files, most_files;
  std::optional<int64_t> read_bytes, written_bytes;  // from and to disks
};

//   root  "/"; tests make up others
ProcessUsage ReadProcessUsage(const std::filesystem::path& root = "/");

}  // namespace stoker
