#include "stoker/io/remote/remote_names.h"

#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/base/printable.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/thrown_error.h"
#include "stoker/io/glob.h"
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/remote/remote_store.h"
#include "stoker/io/remote/request_pool.h"

namespace stoker {
namespace {

// A key with a control character cannot be asked for.
Status CheckKey(const RemoteLocation& location, const std::string& key) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::none_of(key, control)) return OkStatus();
  return DataLoss(
      "{}: the {} {} has an object whose key has a control character in it: '{}'; rename it, "
      "or name the files without it",
      location.name, location.store->container(), location.bucket, Printable(key));
}

// Hands each file of the container of `location` that the store lists for `request` to `take`,
// which says whether it keeps the file. The versions of those are known afterwards.
Status ForEachObject(const RemoteLocation& location, RemoteListRequest request, int64_t most_names,
                     const std::function<bool(const RemoteObject&)>& take) {
  const std::shared_ptr<const RemoteOptions> options = CurrentRemoteOptions();
  const auto list = location.store->List({location, *options}, std::move(request));
  int64_t names = 0;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<RemotePage> page, list->Next());
    if (!page) return OkStatus();
    names += std::ssize(page->objects) + page->folders;
    if (names > most_names) {
      return ResourceExhausted(
          "{}: the store's list of objects has more than {} names; name a folder or pattern with "
          "fewer, or pack the files into shards (`stoker pack`)",
          location.name, most_names);
    }
    for (const RemoteObject& object : page->objects) {
      if (!take(object)) continue;
      STOKER_RETURN_IF_ERROR(CheckKey(location, object.key));
      RemoteFile::Know(location.root + object.key, {.size = object.size, .etag = object.etag});
    }
  }
}

bool Matches(const std::string& pattern, const std::string& key) {
  return ::fnmatch(pattern.c_str(), key.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
}

// Returns whether files below a folder "a/b/" may match `pattern`: its first parts, as many as the
// folder has, match the folder's.
std::function<bool(const std::string&)> FolderFilter(const std::string& pattern) {
  return [pattern](const std::string& folder) {
    size_t end = 0;  // of the parts of the pattern
    for (auto parts = std::ranges::count(folder, '/'); parts > 0; --parts) {
      end = pattern.find('/', end);
      if (end == pattern.npos) return false;
      ++end;
    }
    return Matches(pattern.substr(0, end), folder);
  };
}

// Looks files up, several at once.
class Search {
 public:
  explicit Search(std::vector<std::string> paths)
      : paths_(std::move(paths)), left_(paths_.size()), first_bad_(paths_.size()) {}

  // On a thread of the pool, once for each file.
  void Find(size_t i) {
    Status found;
    if (IsWanted(i)) {
      found = CatchExceptions([&] { return RemoteFile::Find(paths_[i], &cancel_).status(); }, "{}",
                              NameForMessages(paths_[i]));
    }
    const MutexLock lock(mutex_);
    if (!found.ok() && i < first_bad_) {
      first_bad_ = i;
      error_ = std::move(found);
    }
    if (--left_ == 0) changed_.NotifyAll();
  }

  // The error of the first file that has one.
  Status Wait() {
    const MutexLock lock(mutex_);
    if (WaitUnlessStopped(changed_, mutex_,
                          [this]() STOKER_REQUIRES(mutex_) { return left_ == 0; }))
      return error_;
    cancel_.Cancel();
    return Cancelled("{}: asked to stop while files were looked up",
                     NameForMessages(paths_.front()));
  }

 private:
  // What follows an error need not be asked for.
  bool IsWanted(size_t i) {
    const MutexLock lock(mutex_);
    return i < first_bad_ && !cancel_.cancelled();
  }

  const std::vector<std::string> paths_;
  Cancellation cancel_;
  Mutex mutex_;
  CondVar changed_;
  size_t left_ STOKER_GUARDED_BY(mutex_), first_bad_ STOKER_GUARDED_BY(mutex_);
  Status error_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace

bool HasRemoteLists(const std::string& path) {
  const RemoteStore* const store = FindRemoteStore(path);
  return store != nullptr && store->lists();
}

bool IsRemoteGlob(const std::string& path) { return HasRemoteLists(path) && IsGlob(path); }

Result<std::vector<std::string>> ExpandRemoteGlob(const std::string& pattern, int64_t most_names) {
  STOKER_ASSIGN_OR_RETURN(const RemoteLocation location, ParseRemotePath(pattern));
  const std::string& keys = location.key;
  const size_t wild = keys.find_first_of("*?[");
  const std::string prefix = UnescapeGlob(keys.substr(0, wild));
  const auto slashes = static_cast<int>(
      std::ranges::count(std::string_view(keys).substr(std::min(wild, keys.size())), '/'));
  std::vector<std::string> paths;
  const auto take = [&](const RemoteObject& object) {
    if (!Matches(keys, object.key) || object.key.ends_with('/')) return false;
    paths.push_back(location.root + object.key);
    return true;
  };
  RemoteListRequest request{.prefix = prefix, .slashes = slashes, .enters = FolderFilter(keys)};
  STOKER_RETURN_IF_ERROR(ForEachObject(location, std::move(request), most_names, take));
  if (paths.empty()) {
    return NotFound("{}: no object matches, though the {} is there; check the pattern", pattern,
                    location.store->container());
  }
  std::ranges::sort(paths);
  return paths;
}

Result<std::vector<std::string>> ListRemoteFolder(const std::string& folder, int64_t most_names) {
  STOKER_ASSIGN_OR_RETURN(const RemoteLocation location, ParseRemotePath(folder));
  if (!location.store->lists()) {
    return Unimplemented(
        "{}: what is in a folder cannot be asked for over HTTP; name the files, read the folder "
        "from S3, or copy it here",
        location.name);
  }
  std::string prefix = location.key;
  while (prefix.ends_with('/')) prefix.pop_back();
  if (!prefix.empty()) prefix += '/';
  std::vector<std::string> names;
  const auto take = [&](const RemoteObject& object) {
    if (!object.key.starts_with(prefix) || object.key.size() == prefix.size()) return false;
    names.push_back(object.key.substr(prefix.size()));
    return true;
  };
  STOKER_RETURN_IF_ERROR(ForEachObject(location, {.prefix = prefix}, most_names, take));
  if (names.empty()) {
    return NotFound("{}: no object is below it, though the {} is there; check the name", folder,
                    location.store->container());
  }
  std::ranges::sort(names);
  return names;
}

Status CheckRemoteFiles(const std::vector<std::string>& paths) {
  if (paths.size() == 1) return RemoteFile::Open(paths.front()).status();  // its start is kept
  // Shared, since those that are asked to stop do not wait for those that ask.
  const auto search = std::make_shared<Search>(paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    const Status asked = RequestPool::Shared().Run([search, i] { search->Find(i); },
                                                   CurrentRemoteOptions()->connections);
    if (!asked.ok()) {
      return Status(asked.code(),
                    fmt::format("{}: {}", NameForMessages(paths[i]), asked.message()));
    }
  }
  return search->Wait();
}

}  // namespace stoker
