// The sinks of HttpStore.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/io/remote/remote_request.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker::internal {

// Returns the version named by the head of an answer, whole or partial.
RemoteVersion VersionOf(const HttpHead& head);

// Fails with kFailedPrecondition if `now` is another version than `then`.
Status CheckUnchanged(const std::string& name, const RemoteVersion& then, const RemoteVersion& now);

// Adds the conditions for receiving a part of this version only.
void AddConditions(const RemoteVersion& version, RemoteRequest& request);

// Receives a file whose version is known: refuses an answer of another version, and skips bytes
// before the next wanted one.
class VersionedSink : public RemoteSink {
 public:
  uint64_t received() const override { return done_; }
  Status refusal() const override { return refusal_; }

 protected:
  VersionedSink(const RemoteLocation& location, const RemoteVersion& version)
      : location_(location), version_(version) {}

  const std::string& name() const { return location_.name; }
  const RemoteVersion& version() const { return version_; }
  uint64_t done() const { return done_; }
  void Add(uint64_t bytes) { done_ += bytes; }
  // Keeps `status` as the refusal. Returns whether it is ok.
  bool Accept(Status status);
  // Returns whether a new answer has the wanted version.
  bool IsSameVersion(const HttpHead& head);
  // Returns whether a new answer has the wanted version and begins at or before byte `wanted`.
  // `most`: bytes wanted from there on.
  bool BeginAt(const HttpHead& head, uint64_t wanted, uint64_t most);
  // Returns whether this answer continues, maybe for ever, after all wanted bytes.
  bool goes_on() const { return goes_on_; }
  // For a new answer: skips the first `bytes`, and accepts at most `room` after them, the rest of
  // its range.
  void PassOver(uint64_t bytes, uint64_t room = std::numeric_limits<uint64_t>::max());
  // Returns the part of `bytes` after the skipped ones and within the range.
  std::span<const std::byte> Wanted(std::span<const std::byte> bytes);
  // Returns whether this answer had more bytes than its range.
  bool exceeded() const { return exceeded_; }

 private:
  const RemoteLocation& location_;
  const RemoteVersion& version_;
  uint64_t done_ = 0;             // wanted bytes, over all attempts
  uint64_t skip_ = 0, room_ = 0;  // of this answer
  bool goes_on_ = false, exceeded_ = false;
  Status refusal_;
};

// A part of a file, from `offset` on, into memory.
class RangeSink final : public VersionedSink {
 public:
  RangeSink(const RemoteLocation& location, const RemoteVersion& version, uint64_t offset,
            std::span<std::byte> out, const std::function<void(size_t)>& progress)
      : VersionedSink(location, version), offset_(offset), out_(out), progress_(progress) {}

  bool complete() const override { return done() == out_.size(); }
  RemoteRequest Next() override;
  bool Begin(const HttpHead& head) override;
  bool Take(std::span<const std::byte> bytes) override;

 private:
  const uint64_t offset_;
  const std::span<std::byte> out_;
  const std::function<void(size_t)>& progress_;
};

// Receives the first bytes of a file of unknown version. After an attempt that broke off, the next
// asks for the rest, of the version that the first answer names.
class HeadSink final : public VersionedSink {
 public:
  HeadSink(const RemoteLocation& location, size_t bytes)
      : VersionedSink(location, found_), bytes_(std::max<size_t>(bytes, 1)) {}

  bool complete() const override {
    return done() == bytes_ || (found_.size && done() == *found_.size);
  }
  // Returns the head of the first answer that had bytes, or said that the file has none; nothing if
  // there was none.
  const std::optional<HttpHead>& head() const { return head_; }
  std::vector<std::byte> TakeContent() { return std::move(content_); }
  RemoteRequest Next() override;
  bool Begin(const HttpHead& head) override;
  bool Take(std::span<const std::byte> bytes) override;

 private:
  const size_t bytes_;  // of the head
  RemoteVersion found_;
  std::optional<HttpHead> head_;
  std::vector<std::byte> content_;
};

// Passes on a whole file of a server without ranges. After an attempt that broke off, the next
// begins anew, and must repeat the same bytes.
class WholeSink final : public VersionedSink {
 public:
  using TakeBytes = std::function<Status(std::span<const std::byte>)>;
  WholeSink(const RemoteLocation& location, const RemoteVersion& version, const TakeBytes& take)
      : VersionedSink(location, version), take_(take) {}

  bool complete() const override { return version().size && done() == *version().size; }
  RemoteRequest Next() override;
  bool Begin(const HttpHead& head) override;
  bool Take(std::span<const std::byte> bytes) override;

 private:
  const TakeBytes& take_;
  uint32_t checksum_ = 0;  // of all bytes passed on
  uint32_t repeated_ = 0;  // of those that this answer has repeated
};

}  // namespace stoker::internal
