#include "stoker/io/remote/cache_entries_internal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>

#include "stoker/io/descriptor.h"

namespace stoker {
namespace {

int64_t NsOf(const timespec& time) {
  constexpr int64_t kNsInSecond = 1'000'000'000;
  return int64_t{time.tv_sec} * kNsInSecond + time.tv_nsec;
}

}  // namespace

Result<CacheEntries> ListCacheEntries(const std::string& directory) {
  CacheEntries entries;
  std::error_code error;
  std::filesystem::directory_iterator files(directory, error);
  if (error)
    return ErrnoStatus(error.value(), directory + ": cannot list the cache of remote files");
  for (; files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::string name = files->path().filename().string();
    struct stat found {};
    if (name.ends_with(kCheckSuffix) || name.ends_with(kLockSuffix)) continue;
    if (::stat(files->path().c_str(), &found) != 0 || !S_ISREG(found.st_mode)) continue;
    const auto bytes = static_cast<uint64_t>(found.st_size);
    if (name.starts_with('.')) {
      entries.bytes_under_way += bytes;
      continue;
    }
    struct stat check {};
    const bool checked =
        ::stat((files->path().string() + std::string(kCheckSuffix)).c_str(), &check) == 0;
    entries.copies.push_back({name, bytes, NsOf(checked ? check.st_mtim : found.st_mtim)});
  }
  std::ranges::sort(entries.copies, {}, &CacheEntry::used_ns);
  struct statvfs disk {};
  entries.bytes_free = ::statvfs(directory.c_str(), &disk) == 0
                           ? uint64_t{disk.f_bavail} * disk.f_frsize
                           : std::numeric_limits<uint64_t>::max();
  return entries;
}

bool RemoveUnlessInUse(const std::string& directory, const CacheEntry& entry) {
  const std::string path = directory + "/" + entry.name;
  const Descriptor copy(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!copy.valid()) return errno == ENOENT;
  if (::flock(copy.get(), LOCK_EX | LOCK_NB) != 0) return false;
  ::unlink(path.c_str());
  ::unlink((path + std::string(kCheckSuffix)).c_str());
  return true;
}

}  // namespace stoker
