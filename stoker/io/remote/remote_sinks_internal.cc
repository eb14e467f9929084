#include "stoker/io/remote/remote_sinks_internal.h"

namespace stoker::internal {

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
  return FailedPrecondition(
      "{}: the file changed while it was read: it had {}, and has {}; run again, and read files "
      "that stay as they are",
      name, then.ToString(), now.ToString());
}

bool VersionedSink::Accept(Status status) {
  refusal_ = std::move(status);
  return refusal_.ok();
}

bool VersionedSink::IsSameVersion(const HttpHead& head) {
  return Accept(CheckUnchanged(name(), version_, VersionOf(head)));
}

std::span<const std::byte> VersionedSink::Wanted(std::span<const std::byte> bytes) {
  const auto skipped = static_cast<size_t>(std::min<uint64_t>(skip_, bytes.size()));
  skip_ -= skipped;
  return bytes.subspan(skipped);
}

RemoteRequest RangeSink::Next() {
  const uint64_t first = offset_ + done();
  RemoteRequest request{.range = {{first, offset_ + out_.size() - 1}}};
  if (IsStrongTag(version().etag)) request.if_match = version().etag;
  return request;
}

bool RangeSink::Begin(const HttpHead& head) {
  if (!IsSameVersion(head)) return false;
  const uint64_t wanted = offset_ + done();
  uint64_t first = 0;  // where the whole file is sent
  if (VersionOf(head).ranges) {
    if (!head.content_range || !head.content_range->first) {
      return Accept(
          DataLoss("{}: byte {}: the server sends a part, but not which; its answers are not "
                   "HTTP's: fetch the file by other means",
                   name(), wanted));
    }
    first = *head.content_range->first;
  }
  if (first > wanted) {
    return Accept(
        DataLoss("{}: byte {}: the server sends what begins at byte {}; its answers are not "
                 "HTTP's: fetch the file by other means",
                 name(), wanted, first));
  }
  PassOver(wanted - first);
  return true;
}

bool RangeSink::Take(std::span<const std::byte> bytes) {
  bytes = Wanted(bytes);
  const size_t count = std::min(bytes.size(), out_.size() - static_cast<size_t>(done()));
  if (count > 0) std::memcpy(out_.data() + done(), bytes.data(), count);
  Add(count);
  if (count > 0 && progress_) progress_(static_cast<size_t>(done()));
  return count == bytes.size();
}

RemoteRequest HeadSink::Next() {
  content_.clear();
  return {.range = {{0, std::max<size_t>(bytes_, 1) - 1}}};
}

bool HeadSink::Begin(const HttpHead& head) {
  head_ = head;
  return true;
}

bool HeadSink::Take(std::span<const std::byte> bytes) {
  const size_t count = std::min(bytes.size(), bytes_ - content_.size());
  content_.insert(content_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(count));
  return count == bytes.size();
}

bool WholeSink::Begin(const HttpHead& head) {
  PassOver(done());
  return IsSameVersion(head);
}

bool WholeSink::Take(std::span<const std::byte> bytes) {
  bytes = Wanted(bytes);
  if (bytes.empty()) return true;
  Add(bytes.size());
  return Accept(take_(bytes));
}

}  // namespace stoker::internal
