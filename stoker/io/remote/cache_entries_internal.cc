#include "stoker/io/remote/cache_entries_internal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <limits>

#include "stoker/base/json.h"
#include "stoker/base/json_text.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/file.h"
#include "stoker/io/temporary.h"

namespace stoker {
namespace {

constexpr uint64_t kMostCheckBytes = 1 << 20;

int64_t NsOf(const timespec& time) {
  constexpr int64_t kNsInSecond = 1'000'000'000;
  return int64_t{time.tv_sec} * kNsInSecond + time.tv_nsec;
}

std::string CheckPathOf(const std::string& path) { return fmt::format("{}{}", path, kCheckSuffix); }

// Whether `name` is that of a copy, or of its check, in the making.
bool IsUnfinishedName(std::string_view name) {
  std::string_view final_name = internal::FinalNameIn(name);
  if (final_name.ends_with(kCheckSuffix)) final_name.remove_suffix(kCheckSuffix.size());
  return IsCopyName(final_name);
}

Status ForEachName(const std::string& directory,
                   const std::function<Status(const std::string&)>& take) {
  std::error_code error;
  std::filesystem::directory_iterator files(directory, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error))
    STOKER_RETURN_IF_ERROR(take(files->path().filename().string()));
  if (error)
    return ErrnoStatus(error.value(), directory + ": cannot list the cache of remote files");
  return OkStatus();
}

// The copy, locked against use, where it may go; open as nothing if it is gone already.
std::optional<Descriptor> LockUnused(const std::string& path) {
  Descriptor copy = OpenUninterrupted(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (!copy.valid() && errno == ENOENT) return copy;
  if (!copy.valid() || ::flock(copy.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  const Result<std::optional<CopyCheck>> check = ReadCopyCheck(path);
  if (!check.ok() || !*check) return std::nullopt;
  return copy;
}

std::string PathOf(const std::string& directory, const CacheEntry& entry) {
  return fmt::format("{}/{}", directory, entry.name);
}

}  // namespace

bool IsCopyName(std::string_view name) {
  if (name.size() < kHashDigits + 2 || name.size() > kLongestBase + 1 + kHashDigits) return false;
  const std::string_view base = name.substr(0, name.size() - kHashDigits - 1);
  const std::string_view hash = name.substr(base.size() + 1);
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return base.front() != '.' && name[base.size()] == '-' && std::ranges::all_of(hash, is_digit);
}

std::string ToJson(const CopyCheck& check, const std::string& source, const std::string& etag) {
  const Json json = {
      {"bytes", check.bytes}, {"crc32c", check.crc32c}, {"file", source}, {"etag", etag}};
  return DumpJson(json) + "\n";
}

Result<std::optional<CopyCheck>> ReadCopyCheck(const std::string& path) {
  struct stat found {};
  const std::string check = CheckPathOf(path);
  if (::stat(check.c_str(), &found) == 0 &&
      (!S_ISREG(found.st_mode) || static_cast<uint64_t>(found.st_size) > kMostCheckBytes))
    return std::nullopt;
  const Result<std::string> text = ReadTextFile(check, kMostCheckBytes);
  if (text.status().code() == StatusCode::kNotFound) return std::nullopt;
  STOKER_RETURN_IF_ERROR(text.status());
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("file") || !json.contains("etag")) return std::nullopt;
  const auto bytes = json.find("bytes"), crc32c = json.find("crc32c");
  if (bytes == json.end() || !bytes->is_number_unsigned()) return std::nullopt;
  if (crc32c == json.end() || !crc32c->is_number_unsigned()) return std::nullopt;
  return std::optional(
      CopyCheck{.bytes = bytes->get<uint64_t>(), .crc32c = crc32c->get<uint32_t>()});
}

Result<CacheEntries> ListCacheEntries(const std::string& directory) {
  CacheEntries entries;
  STOKER_RETURN_IF_ERROR(ForEachName(directory, [&](const std::string& name) {
    const bool is_copy = IsCopyName(name);
    if (!is_copy && !IsUnfinishedName(name)) return OkStatus();
    const std::string path = fmt::format("{}/{}", directory, name);
    struct stat found {
    }, check{};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return OkStatus();
    const auto bytes = static_cast<uint64_t>(found.st_size);
    if (!is_copy) {
      entries.bytes_under_way += bytes;
    } else if (::lstat(CheckPathOf(path).c_str(), &check) == 0 && S_ISREG(check.st_mode)) {
      entries.copies.push_back({name, bytes, NsOf(check.st_mtim)});
    }
    return OkStatus();
  }));
  std::ranges::sort(entries.copies, {}, &CacheEntry::used_ns);
  struct statvfs disk {};
  entries.bytes_free = ::statvfs(directory.c_str(), &disk) == 0
                           ? uint64_t{disk.f_bavail} * disk.f_frsize
                           : std::numeric_limits<uint64_t>::max();
  return entries;
}

Status RemoveUnfinishedCopies(const std::string& directory) {
  std::vector<std::string> names;
  STOKER_RETURN_IF_ERROR(ForEachName(directory, [&](const std::string& name) {
    if (IsUnfinishedName(name)) names.push_back(name);
    return OkStatus();
  }));
  for (const std::string& name : names)
    STOKER_RETURN_IF_ERROR(internal::RemoveIfStale(directory, name).status());
  return OkStatus();
}

bool MayGo(const std::string& directory, const CacheEntry& entry) {
  return LockUnused(PathOf(directory, entry)).has_value();
}

bool RemoveIfItMayGo(const std::string& directory, const CacheEntry& entry) {
  const std::string path = PathOf(directory, entry);
  const std::optional<Descriptor> copy = LockUnused(path);
  if (!copy) return false;
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return false;  // it still takes its space
  ::unlink(CheckPathOf(path).c_str());
  return true;
}

}  // namespace stoker
