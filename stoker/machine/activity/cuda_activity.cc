#include "stoker/machine/activity/cuda_activity.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>

#include "stoker/base/plugin.h"

namespace stoker {
namespace {

constexpr const char* kLibrary = "stoker_cuda_activity.so";
constexpr std::string_view kExtension = ".cuda";

// Read rather than mapped: the program may cut the file off. Its numbers are written one by one, so
// of a window that is published meanwhile some may be the new ones; the next reading has all.
std::optional<CudaCounters> ReadFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  alignas(CudaCountersFile) unsigned char bytes[sizeof(CudaCountersFile)];
  const ssize_t size = ::pread(file, bytes, sizeof bytes, 0);
  ::close(file);
  uint64_t magic = 0;
  std::memcpy(&magic, bytes, sizeof magic);
  if (size != static_cast<ssize_t>(sizeof bytes) || magic != CudaCountersFile::kMagic)
    return std::nullopt;
  CudaCounters counters;
  std::memcpy(&counters, bytes + offsetof(CudaCountersFile, counters), sizeof counters);
  return counters;
}

}  // namespace

Result<std::string> FindCudaActivityLibrary() {
  return FindPluginFile(
      {.file = kLibrary,
       .tag = {},
       .when_missing = "it was not built, so kernels and copies are not counted"});
}

std::vector<std::pair<std::string, std::string>> CudaActivityVariables(const std::string& library,
                                                                       const std::string& folder) {
  return {{kCudaInjection, library}, {kCudaActivityFolder, folder}};
}

bool HasCudaActivity(const std::string& folder, int64_t pid) {
  return ::access((folder + "/" + std::to_string(pid) + std::string(kExtension)).c_str(), F_OK) ==
         0;
}

std::vector<CudaActivity> ReadCudaActivity(const std::string& folder) {
  std::vector<CudaActivity> found;
  std::error_code error;
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    const std::filesystem::path& path = each->path();
    const std::string stem = path.stem().string();
    int64_t pid = 0;
    const auto [rest, bad] = std::from_chars(stem.data(), stem.data() + stem.size(), pid);
    if (path.extension() != kExtension || bad != std::errc() || rest != stem.data() + stem.size())
      continue;
    if (const auto counters = ReadFile(path.string()))
      found.push_back({.pid = pid, .counters = *counters});
  }
  return found;
}

}  // namespace stoker
