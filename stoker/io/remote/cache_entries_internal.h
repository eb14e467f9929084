// What lies in the directory of a ShardCache.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

inline constexpr std::string_view kCheckSuffix = ".check", kLockSuffix = ".lock";

struct CacheEntry {
  std::string name;
  uint64_t bytes = 0;
  int64_t used_ns = 0;  // when last, since 1970
};

struct CacheEntries {
  std::vector<CacheEntry> copies;  // the one used longest ago first
  uint64_t bytes_under_way = 0;    // of copies in the making
  uint64_t bytes_free = 0;         // on the disk
};
Result<CacheEntries> ListCacheEntries(const std::string& directory);

// False where a process has the copy open.
bool RemoveUnlessInUse(const std::string& directory, const CacheEntry& entry);

}  // namespace stoker
