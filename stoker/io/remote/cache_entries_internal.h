// What lies in the directory of a ShardCache. Somebody may keep other files there: they are neither
// counted nor touched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

inline constexpr std::string_view kCheckSuffix = ".check", kLockSuffix = ".lock";
inline constexpr size_t kLongestBase = 60, kHashDigits = 24;

// Whether `name` has the form that copies' names have: BASE-HASH, of at most kLongestBase
// characters, the first no dot, and kHashDigits digits.
bool IsCopyName(std::string_view name);

// What stands beside the copy NAME, in NAME.check.
struct CopyCheck {
  uint64_t bytes = 0;
  uint32_t crc32c = 0;
};
std::string ToJson(const CopyCheck& check, const std::string& source, const std::string& etag);
// Of the copy at `path`, a path without the suffix; nothing where there is none, or it is no check.
// Errors: those of reading it.
Result<std::optional<CopyCheck>> ReadCopyCheck(const std::string& path);

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
// The checks are looked for, but not read. Errors: those of listing.
Result<CacheEntries> ListCacheEntries(const std::string& directory);

// Removes copies in the making whose process is gone. Errors: those of listing and removing.
Status RemoveUnfinishedCopies(const std::string& directory);

// Whether the entry is a copy, by its check too, that no process has open.
bool MayGo(const std::string& directory, const CacheEntry& entry);
// Removes it if so.
bool RemoveIfItMayGo(const std::string& directory, const CacheEntry& entry);

}  // namespace stoker
