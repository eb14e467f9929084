#include "stoker/io/remote/remote_sinks_internal.h"

#include "stoker/io/checksum.h"

namespace stoker::internal {
namespace {

// Where the range that an answer names ends; the largest number where it names none.
uint64_t EndOfRange(const HttpHead& head) {
  const bool named = VersionOf(head).ranges && head.content_range && head.content_range->last;
  return named ? *head.content_range->last + 1 : std::numeric_limits<uint64_t>::max();
}

}  // namespace

RemoteVersion VersionOf(const HttpHead& head) {
  constexpr int kPartial = 206;
  RemoteVersion version{
      .etag = head.etag, .last_modified = head.last_modified, .ranges = head.status == kPartial};
  if (version.ranges) {
    if (head.content_range) version.size = head.content_range->total;
  } else {
    version.size = head.content_length;
  }
  return version;
}

Status CheckUnchanged(const std::string& name, const RemoteVersion& then,
                      const RemoteVersion& now) {
  if (then.Matches(now)) return OkStatus();
  if (now.etag.empty() && now.last_modified.empty()) {
    return FailedPrecondition(
        "{}: the server no longer says which version of the file it sends: it had {}, and has {} "
        "and neither tag nor time, so nobody can know whether it changed; run again, and if that "
        "does not help fetch it by other means",
        name, then.ToString(), now.ToString());
  }
  return FailedPrecondition(
      "{}: the file changed while it was read: it had {}, and has {}; run again, and read files "
      "that stay as they are",
      name, then.ToString(), now.ToString());
}

// A weak tag cannot be asked for (RFC 9110, section 13.1.1), and a server that has tags may have
// another time for the same bytes on each of its machines.
void AddConditions(const RemoteVersion& version, RemoteRequest& request) {
  if (IsStrongTag(version.etag)) {
    request.if_match = version.etag;
  } else if (version.etag.empty()) {
    request.if_unmodified_since = version.last_modified;
  }
}

bool VersionedSink::Accept(Status status) {
  refusal_ = std::move(status);
  return refusal_.ok();
}

bool VersionedSink::IsSameVersion(const HttpHead& head) {
  return Accept(CheckUnchanged(name(), version_, VersionOf(head)));
}

void VersionedSink::PassOver(uint64_t bytes, uint64_t room) {
  skip_ = bytes;
  room_ = room;
  exceeded_ = false;
}

std::span<const std::byte> VersionedSink::Wanted(std::span<const std::byte> bytes) {
  const auto skipped = static_cast<size_t>(std::min<uint64_t>(skip_, bytes.size()));
  skip_ -= skipped;
  bytes = bytes.subspan(skipped);
  if (bytes.size() > room_) {
    exceeded_ = true;
    bytes = bytes.first(static_cast<size_t>(room_));
  }
  room_ -= bytes.size();
  return bytes;
}

bool VersionedSink::BeginAt(const HttpHead& head, uint64_t wanted, uint64_t most) {
  if (!IsSameVersion(head)) return false;
  uint64_t first = 0;  // where the whole file is sent
  if (VersionOf(head).ranges) {
    if (!head.content_range || !head.content_range->first) {
      return Accept(
          Unavailable("{}: byte {}: the server sends a part, but not which; its answers are not "
                      "HTTP's: fetch the file by other means",
                      name(), wanted));
    }
    first = *head.content_range->first;
  }
  if (first > wanted) {
    return Accept(
        Unavailable("{}: byte {}: the server sends what begins at byte {}; its answers are not "
                    "HTTP's: fetch the file by other means",
                    name(), wanted, first));
  }
  PassOver(wanted - first, std::max(EndOfRange(head), wanted) - wanted);
  goes_on_ =
      head.content_length && *head.content_length - std::min(*head.content_length, skip_) > most;
  return true;
}

RemoteRequest RangeSink::Next() {
  const uint64_t first = offset_ + done();
  RemoteRequest request{.range = {{first, offset_ + out_.size() - 1}}};
  AddConditions(version(), request);
  return request;
}

bool RangeSink::Begin(const HttpHead& head) {
  return BeginAt(head, offset_ + done(), out_.size() - done());
}

bool RangeSink::Take(std::span<const std::byte> bytes) {
  bytes = Wanted(bytes);
  const size_t count = std::min(bytes.size(), out_.size() - static_cast<size_t>(done()));
  if (count > 0) std::memcpy(out_.data() + done(), bytes.data(), count);
  Add(count);
  if (count > 0 && progress_) progress_(static_cast<size_t>(done()));
  return count == bytes.size() && !exceeded() && !(complete() && goes_on());
}

RemoteRequest HeadSink::Next() {
  RemoteRequest request{.range = {{done(), bytes_ - 1}}};
  if (done() > 0) AddConditions(found_, request);
  return request;
}

// The first answer says what the file is; whether it can be used is for the caller to judge.
bool HeadSink::Begin(const HttpHead& head) {
  if (done() > 0) return BeginAt(head, done(), bytes_ - done());
  head_ = head;
  found_ = VersionOf(head);
  PassOver(0, EndOfRange(head));
  return true;
}

bool HeadSink::Take(std::span<const std::byte> bytes) {
  bytes = Wanted(bytes);
  const size_t count = std::min(bytes.size(), bytes_ - static_cast<size_t>(done()));
  content_.insert(content_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(count));
  Add(count);
  return count == bytes.size() && !exceeded() &&
         !(complete() && head_->content_length.value_or(0) > bytes_);
}

RemoteRequest WholeSink::Next() {
  RemoteRequest request;
  AddConditions(version(), request);
  return request;
}

bool WholeSink::Begin(const HttpHead& head) {
  PassOver(done());
  repeated_ = 0;
  return IsSameVersion(head);
}

bool WholeSink::Take(std::span<const std::byte> bytes) {
  const std::span<const std::byte> wanted = Wanted(bytes);
  repeated_ = Crc32c(bytes.first(bytes.size() - wanted.size()), repeated_);
  if (wanted.empty()) return true;
  if (repeated_ != checksum_) {
    return Accept(FailedPrecondition(
        "{}: the file changed while it was read: its first {} bytes are others than before the "
        "connection broke; run again, and read files that stay as they are",
        name(), done()));
  }
  Add(wanted.size());
  checksum_ = repeated_ = Crc32c(wanted, checksum_);
  return Accept(take_(wanted));
}

}  // namespace stoker::internal
