#include "stoker/io/remote/remote_file.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <list>
#include <unordered_map>
#include <utility>

#include "stoker/base/stop_scope.h"
#include "stoker/io/remote/remote_sinks_internal.h"

namespace stoker {
namespace {

constexpr size_t kHeadBytes = 64 << 10;

// What this process knows of files, since the settings that are in force were made: others may ask
// other stores.
class Known {
 public:
  static Known& Shared() {
    static Known known;
    return known;
  }

  std::shared_ptr<const RemoteFile> Recent(const std::string& path) {
    const std::lock_guard lock(mutex_);
    ForgetWhereSettingsChanged();
    for (const auto& file : recent_) {
      if (file->path() == path) return file;
    }
    return nullptr;
  }
  void Remember(const std::shared_ptr<const RemoteFile>& file) {
    constexpr size_t kMostRecent = 16;
    const std::lock_guard lock(mutex_);
    ForgetWhereSettingsChanged();
    versions_.try_emplace(file->path(), file->version());
    recent_.push_front(file);
    if (recent_.size() > kMostRecent) recent_.pop_back();
  }
  void Remember(const std::string& path, RemoteVersion version) {
    const std::lock_guard lock(mutex_);
    ForgetWhereSettingsChanged();
    versions_.try_emplace(path, std::move(version));
  }
  std::optional<RemoteVersion> VersionOf(const std::string& path) {
    const std::lock_guard lock(mutex_);
    ForgetWhereSettingsChanged();
    const auto found = versions_.find(path);
    return found == versions_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void ForgetWhereSettingsChanged() {
    std::shared_ptr<const RemoteOptions> current = CurrentRemoteOptions();
    if (settings_ == current) return;
    settings_ = std::move(current);
    versions_.clear();
    recent_.clear();
  }

  std::mutex mutex_;
  std::shared_ptr<const RemoteOptions> settings_;
  std::unordered_map<std::string, RemoteVersion> versions_;
  std::list<std::shared_ptr<const RemoteFile>> recent_;  // with their first bytes
};

// The version that a server's answer to `sink` tells of.
Result<RemoteVersion> VersionOfAnswer(const RemoteLocation& location, const HttpAnswer& answer,
                                      const internal::HeadSink& sink) {
  constexpr int kNotSatisfiable = 416;  // an empty file has no first byte
  const int status = answer.head.status;
  if (!sink.head() && status == kNotSatisfiable) {
    return RemoteVersion{
        .size = 0, .etag = answer.head.etag, .last_modified = answer.head.last_modified};
  }
  const HttpHead& head = sink.head() ? *sink.head() : answer.head;
  RemoteVersion version = internal::VersionOf(head);
  if (status / 100 != 2) {
    return FailedPrecondition(
        "{}: the file changed while it was read: it had {}, and the server says that it has not "
        "any more (HTTP {}); run again, and read files that stay as they are",
        location.name, version.ToString(), status);
  }
  const bool from_start = head.content_range && head.content_range->first == 0;
  if (version.ranges && (!version.size || !from_start)) {
    return Unavailable(
        "{}: the server sends a part, but does not say which, or of how much; fetch the file by "
        "other means",
        location.name);
  }
  return version;
}

}  // namespace

struct RemoteFile::Head {
  std::mutex mutex;  // never held over a request: who reads must be free to stop
  std::condition_variable changed;
  bool under_way = false;  // one thread asks for them
  bool here = false;
  std::vector<std::byte> bytes;
};

bool RemoteVersion::Matches(const RemoteVersion& other) const {
  if (size && other.size && *size != *other.size) return false;
  if (!etag.empty() && !other.etag.empty()) return etag == other.etag;
  if (!last_modified.empty() && !other.last_modified.empty())
    return last_modified == other.last_modified;
  return !has_mark();  // one that was known by more than its size, and is not any more, may be any
}

std::string RemoteVersion::ToString() const {
  std::string text = size ? fmt::format("{} bytes", *size) : "an unknown size";
  if (!etag.empty()) return fmt::format("{} and the tag {}", text, etag);
  return last_modified.empty() ? text : fmt::format("{} of {}", text, last_modified);
}

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
  internal::HeadSink sink(location, kHeadBytes);
  STOKER_ASSIGN_OR_RETURN(const HttpAnswer answer, AskServer(location, sink, *options, nullptr));
  STOKER_ASSIGN_OR_RETURN(RemoteVersion version, VersionOfAnswer(location, answer, sink));
  std::vector<std::byte> content = sink.TakeContent();
  // A small file that came whole needs no parts.
  if (!version.size && content.size() < kHeadBytes) version.size = content.size();
  std::shared_ptr<RemoteFile> file(
      new RemoteFile(path, std::move(location), std::move(version), std::move(options)));
  file->head_->bytes = std::move(content);
  file->head_->here = true;
  Known::Shared().Remember(file);
  return std::shared_ptr<const RemoteFile>(std::move(file));
}

Result<RemoteVersion> RemoteFile::Find(const std::string& path, Cancellation* cancel) {
  if (std::optional<RemoteVersion> known = Known::Shared().VersionOf(path)) return *known;
  STOKER_ASSIGN_OR_RETURN(const RemoteLocation location, ParseRemotePath(path));
  internal::HeadSink sink(location, 1);
  STOKER_ASSIGN_OR_RETURN(const HttpAnswer answer,
                          AskServer(location, sink, *CurrentRemoteOptions(), cancel));
  STOKER_ASSIGN_OR_RETURN(RemoteVersion version, VersionOfAnswer(location, answer, sink));
  Know(path, version);
  return version;
}

void RemoteFile::Know(const std::string& path, RemoteVersion version) {
  Known::Shared().Remember(path, std::move(version));
}

std::span<const std::byte> RemoteFile::head() const {
  const std::lock_guard lock(head_->mutex);
  // Once it is here it stays as it is.
  return head_->here ? std::span<const std::byte>(head_->bytes) : std::span<const std::byte>();
}

bool RemoteFile::HasAll() const { return version_.size && head().size() == *version_.size; }

// Two threads that need it at once ask once.
Status RemoteFile::FetchHead(Cancellation* cancel) const {
  std::vector<std::byte> bytes(std::min<uint64_t>(size(), kHeadBytes));
  {
    std::unique_lock lock(head_->mutex);
    const auto is_done = [this] { return !head_->under_way; };
    while (!head_->changed.wait_for(lock, kAskStopEvery, is_done)) {
      if (cancel != nullptr ? cancel->cancelled() : StopScope::Asked())
        return Cancelled("{}: byte 0: reading was ended", name());
    }
    if (head_->here) return OkStatus();
    head_->under_way = true;  // or again, where the one who asked before had no success
  }
  const Status fetched = FetchRange(0, bytes, cancel, {});
  const std::lock_guard lock(head_->mutex);
  head_->under_way = false;
  head_->here = fetched.ok();
  if (fetched.ok()) head_->bytes = std::move(bytes);
  head_->changed.notify_all();
  return fetched;
}

// Of a part that was asked for: 412 and 416 say that the file is another one by now.
Status RemoteFile::CheckAnswer(const HttpAnswer& answer) const {
  if (answer.head.status / 100 == 2) return OkStatus();
  return FailedPrecondition(
      "{}: the file changed while it was read: it had {}, and the server says that it has not any "
      "more (HTTP {}); run again, and read files that stay as they are",
      name(), version_.ToString(), answer.head.status);
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
  internal::RangeSink sink(location_, version_, offset, out, progress);
  while (!sink.complete()) {
    const uint64_t before = sink.received();
    STOKER_ASSIGN_OR_RETURN(const HttpAnswer answer, AskServer(location_, sink, *options_, cancel));
    STOKER_RETURN_IF_ERROR(CheckAnswer(answer));
    if (sink.complete()) break;
    if (sink.received() == before) {
      return Unavailable(
          "{}: byte {}: the server says that the file has {} bytes, but sends no more; fetch it by "
          "other means",
          name(), offset + before, size());
    }
  }
  return OkStatus();
}

Status RemoteFile::ReadWhole(const std::function<Status(std::span<const std::byte>)>& take,
                             Cancellation* cancel) const {
  internal::WholeSink sink(location_, version_, take);
  STOKER_ASSIGN_OR_RETURN(const HttpAnswer answer, AskServer(location_, sink, *options_, cancel));
  STOKER_RETURN_IF_ERROR(CheckAnswer(answer));
  if (version_.size && sink.received() != *version_.size) {
    return Unavailable("{}: the server sent {} bytes of {}; fetch the file by other means", name(),
                       sink.received(), *version_.size);
  }
  return OkStatus();
}

}  // namespace stoker
