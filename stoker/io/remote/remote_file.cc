#include "stoker/io/remote/remote_file.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <unordered_map>
#include <utility>

#include "stoker/base/per_process.h"
#include "stoker/base/stop_scope.h"

namespace stoker {
namespace {

constexpr size_t kHeadBytes = 64 << 10;

// What this process knows of files, since the settings that are in force were made: others may ask
// other stores.
class Known {
 public:
  static Known& Shared() {
    static PerProcess<Known> known;  // never destroyed: threads of the pool may use it to the end
    return known.Get();
  }

  std::shared_ptr<const RemoteFile> Recent(const std::string& path) {
    const MutexLock lock(mutex_);
    ForgetWhereSettingsChanged();
    for (const auto& file : recent_) {
      if (file->path() == path) return file;
    }
    return nullptr;
  }
  void Remember(const std::shared_ptr<const RemoteFile>& file) {
    constexpr size_t kMostRecent = 16;
    const MutexLock lock(mutex_);
    ForgetWhereSettingsChanged();
    versions_.try_emplace(file->path(), file->version());
    recent_.push_front(file);
    if (recent_.size() > kMostRecent) recent_.pop_back();
  }
  void Remember(const std::string& path, RemoteVersion version) {
    const MutexLock lock(mutex_);
    ForgetWhereSettingsChanged();
    versions_.try_emplace(path, std::move(version));
  }
  std::optional<RemoteVersion> VersionOf(const std::string& path) {
    const MutexLock lock(mutex_);
    ForgetWhereSettingsChanged();
    const auto found = versions_.find(path);
    return found == versions_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void ForgetWhereSettingsChanged() STOKER_REQUIRES(mutex_) {
    std::shared_ptr<const RemoteOptions> current = CurrentRemoteOptions();
    if (settings_ == current) return;
    settings_ = std::move(current);
    versions_.clear();
    recent_.clear();
  }

  Mutex mutex_;
  std::shared_ptr<const RemoteOptions> settings_ STOKER_GUARDED_BY(mutex_);
  std::unordered_map<std::string, RemoteVersion> versions_ STOKER_GUARDED_BY(mutex_);
  std::list<std::shared_ptr<const RemoteFile>> recent_
      STOKER_GUARDED_BY(mutex_);  // with their first bytes
};

}  // namespace

struct RemoteFile::Head {
  Mutex mutex;  // never held over a request: a reader must be free to stop
  CondVar changed;
  bool under_way STOKER_GUARDED_BY(mutex) = false;  // one thread asks for them
  bool here STOKER_GUARDED_BY(mutex) = false;
  std::vector<std::byte> bytes STOKER_GUARDED_BY(mutex);

  // For as long as this thread asks for them, the others wait; also ended by an exception, after
  // which another thread asks. Made and ended with the mutex held.
  class Flight {
   public:
    explicit Flight(Head& head) STOKER_NO_THREAD_SAFETY_ANALYSIS : head_(head) {
      head_.under_way = true;
    }
    Flight(const Flight&) = delete;
    Flight& operator=(const Flight&) = delete;
    ~Flight() STOKER_NO_THREAD_SAFETY_ANALYSIS {
      head_.under_way = false;
      head_.changed.NotifyAll();
    }

   private:
    Head& head_;
  };
};

RemoteFile::RemoteFile(std::string path, RemoteLocation location, RemoteVersion version,
                       std::shared_ptr<const RemoteOptions> options)
    : path_(std::move(path)),
      location_(std::move(location)),
      version_(std::move(version)),
      options_(std::move(options)),
      head_(std::make_shared<Head>()) {}

Result<std::shared_ptr<const RemoteFile>> RemoteFile::Open(const std::string& path) {
  if (auto recent = Known::Shared().Recent(path)) return recent;
  STOKER_ASSIGN_OR_RETURN(RemoteLocation location, ParseRemotePath(path));
  std::optional<RemoteVersion> known = Known::Shared().VersionOf(path);
  if (!known) return Ask(path, std::move(location));
  std::shared_ptr<const RemoteFile> file(
      new RemoteFile(path, std::move(location), *std::move(known), CurrentRemoteOptions()));
  Known::Shared().Remember(file);
  return file;
}

Result<std::shared_ptr<const RemoteFile>> RemoteFile::Ask(const std::string& path,
                                                          RemoteLocation location) {
  std::shared_ptr<const RemoteOptions> options = CurrentRemoteOptions();
  STOKER_ASSIGN_OR_RETURN(RemoteStore::Found found,
                          location.store->Find({location, *options}, kHeadBytes));
  // A small file that came whole needs no parts.
  if (!found.version.size && found.head && found.head->size() < kHeadBytes)
    found.version.size = found.head->size();
  std::shared_ptr<RemoteFile> file(
      new RemoteFile(path, std::move(location), std::move(found.version), std::move(options)));
  if (found.head) {
    Head& head = *file->head_;
    const MutexLock lock(head.mutex);
    head.bytes = *std::move(found.head);
    head.here = true;
  }
  Known::Shared().Remember(file);
  return std::shared_ptr<const RemoteFile>(std::move(file));
}

Result<RemoteVersion> RemoteFile::Find(const std::string& path, Cancellation* cancel) {
  if (std::optional<RemoteVersion> known = Known::Shared().VersionOf(path)) return *known;
  STOKER_ASSIGN_OR_RETURN(const RemoteLocation location, ParseRemotePath(path));
  const std::shared_ptr<const RemoteOptions> options = CurrentRemoteOptions();
  STOKER_ASSIGN_OR_RETURN(RemoteStore::Found found,
                          location.store->Find({location, *options, cancel}, /*head_bytes=*/1));
  Know(path, found.version);
  return std::move(found.version);
}

void RemoteFile::Know(const std::string& path, RemoteVersion version) {
  Known::Shared().Remember(path, std::move(version));
}

std::span<const std::byte> RemoteFile::head() const {
  const MutexLock lock(head_->mutex);
  // Once it is here it stays as it is.
  return head_->here ? std::span<const std::byte>(head_->bytes) : std::span<const std::byte>();
}

bool RemoteFile::HasAll() const { return version_.size && head().size() == *version_.size; }

// Two threads that need it at once ask once.
Status RemoteFile::FetchHead(Cancellation* cancel) const {
  Head& head = *head_;
  std::vector<std::byte> bytes(std::min<uint64_t>(size(), kHeadBytes));
  const MutexLock lock(head.mutex);
  const auto is_done = [&]() STOKER_REQUIRES(head.mutex) { return !head.under_way; };
  while (!head.changed.WaitFor(head.mutex, kAskStopEvery, is_done)) {
    if (cancel != nullptr ? cancel->cancelled() : StopScope::Asked())
      return Cancelled("{}: byte 0: reading was ended", name());
  }
  if (head.here) return OkStatus();
  const Head::Flight flight(head);  // or again, where the one who asked before had no success
  const Status fetched = [&]() STOKER_REQUIRES(head.mutex) {
    const MutexUnlock meanwhile(head.mutex);
    return FetchRange(0, bytes, cancel, {});
  }();
  head.here = fetched.ok();
  if (fetched.ok()) head.bytes = std::move(bytes);
  return fetched;
}

Result<size_t> RemoteFile::ReadUpTo(uint64_t offset, std::span<std::byte> out, Cancellation* cancel,
                                    const std::function<void(size_t)>& progress) const {
  if (offset >= size() || out.empty()) return 0;
  out = out.first(static_cast<size_t>(std::min<uint64_t>(out.size(), size() - offset)));
  if (offset + out.size() <= kHeadBytes) STOKER_RETURN_IF_ERROR(FetchHead(cancel));
  if (const std::span<const std::byte> here = head(); offset + out.size() <= here.size()) {
    std::memcpy(out.data(), here.data() + offset, out.size());
    if (progress) progress(out.size());
    return out.size();
  }
  STOKER_RETURN_IF_ERROR(FetchRange(offset, out, cancel, progress));
  return out.size();
}

// Fills `out` from `offset` on, which the file has.
Status RemoteFile::FetchRange(uint64_t offset, std::span<std::byte> out, Cancellation* cancel,
                              const std::function<void(size_t)>& progress) const {
  return location_.store->ReadRange({location_, *options_, cancel}, version_, offset, out,
                                    progress);
}

Status RemoteFile::ReadWhole(const std::function<Status(std::span<const std::byte>)>& take,
                             Cancellation* cancel) const {
  return location_.store->ReadWhole({location_, *options_, cancel}, version_, take);
}

}  // namespace stoker
