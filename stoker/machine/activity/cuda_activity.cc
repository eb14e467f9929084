#include "stoker/machine/activity/cuda_activity.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>

#include "stoker/base/plugin.h"

namespace stoker {
namespace {

constexpr const char* kLibrary = "stoker_cuda_activity.so";
constexpr std::string_view kExtension = ".cuda";

// Number by number, because the other process goes on counting.
CudaCounters CopyOf(const CudaCounters& shared) {
  constexpr size_t kNumbers = sizeof(CudaCounters) / sizeof(int64_t);
  static_assert(kNumbers * sizeof(int64_t) == sizeof(CudaCounters));
  int64_t numbers[kNumbers];
  const auto* const source = reinterpret_cast<const int64_t*>(&shared);
  for (size_t i = 0; i < kNumbers; ++i) numbers[i] = __atomic_load_n(source + i, __ATOMIC_RELAXED);
  CudaCounters copy;
  std::memcpy(&copy, numbers, sizeof copy);
  return copy;
}

std::optional<CudaCounters> ReadFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status = {};
  void* mapped = MAP_FAILED;
  if (::fstat(file, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(CudaCountersFile)))
    mapped = ::mmap(nullptr, sizeof(CudaCountersFile), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (mapped == MAP_FAILED) return std::nullopt;
  const auto* const counted = static_cast<const CudaCountersFile*>(mapped);
  std::optional<CudaCounters> counters;
  if (counted->magic.load(std::memory_order_acquire) == CudaCountersFile::kMagic)
    counters = CopyOf(counted->counters);
  ::munmap(mapped, sizeof(CudaCountersFile));
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
