// The entries in the directory of a ShardCache. Other files there are neither counted nor touched.
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

// Returns whether `name` has the form that copies' names have: BASE-HASH, of at most kLongestBase
// characters, the first no dot, and kHashDigits digits.
bool IsCopyName(std::string_view name);

// The content of NAME.check, which belongs to the copy NAME.
struct CopyCheck {
  uint64_t bytes = 0;
  uint32_t crc32c = 0;
};
std::string ToJson(const CopyCheck& check, const std::string& source, const std::string& etag);
// Reads the check of the copy at `path`, a path without the suffix; nothing if there is none, or it
// is not a check. Errors: those of reading it.
Result<std::optional<CopyCheck>> ReadCopyCheck(const std::string& path);

struct CacheEntry {
  std::string name;
  uint64_t bytes = 0;
  int64_t used_ns = 0;  // time of the last use, since 1970
};

struct CacheEntries {
  std::vector<CacheEntry> copies;  // the one used longest ago first
  uint64_t bytes_under_way = 0;    // of unfinished copies
  uint64_t bytes_free = 0;         // on the disk
};
// Lists the entries. Looks for the checks, but does not read them. Errors: those of listing.
Result<CacheEntries> ListCacheEntries(const std::string& directory);

// Removes unfinished copies whose process is gone. Errors: those of listing and removing.
Status RemoveUnfinishedCopies(const std::string& directory);

// Returns whether the entry is a copy (it has a check) that no process has open.
bool MayGo(const std::string& directory, const CacheEntry& entry);
// Removes the entry if MayGo.
bool RemoveIfItMayGo(const std::string& directory, const CacheEntry& entry);

}  // namespace stoker
