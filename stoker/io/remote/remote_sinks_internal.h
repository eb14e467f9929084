// What takes the answers of servers for HttpStore.
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

// The version that the head of an answer, whole or in part, tells of.
RemoteVersion VersionOf(const HttpHead& head);

// kFailedPrecondition where `now` is another version than `then`.
Status CheckUnchanged(const std::string& name, const RemoteVersion& then, const RemoteVersion& now);

// The conditions under which a server is to send a part of this version.
void AddConditions(const RemoteVersion& version, RemoteRequest& request);

// What comes of a file whose version is known: an answer of another version is refused, and what an
// answer has before the byte that is wanted next is passed over.
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
  // Keeps `status` as the refusal; whether it is none.
  bool Accept(Status status);
  // Of a new answer, whether its version is the one that is wanted.
  bool IsSameVersion(const HttpHead& head);
  // Of a new answer that should have byte `wanted`, of which `most` bytes are wanted from there on:
  // whether its version is the right one and it begins at or before that byte.
  bool BeginAt(const HttpHead& head, uint64_t wanted, uint64_t most);
  // Whether this answer goes on after all that is wanted has come, maybe for ever.
  bool goes_on() const { return goes_on_; }
  // Of a new answer: the first `bytes` are not wanted, and at most `room` of what follows are of
  // the range that it names.
  void PassOver(uint64_t bytes, uint64_t room = std::numeric_limits<uint64_t>::max());
  // What is left of `bytes` after those that are passed over, within the range.
  std::span<const std::byte> Wanted(std::span<const std::byte> bytes);
  // Whether this answer had more bytes than its range has, which nobody can place.
  bool exceeded() const { return exceeded_; }

 private:
  const RemoteLocation& location_;
  const RemoteVersion& version_;
  uint64_t done_ = 0;             // bytes that were wanted, of all tries
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

// The first bytes of a file of which nothing is known before the first answer. Where a try breaks
// off, the next one asks for the rest, of the version that the first answer names.
class HeadSink final : public VersionedSink {
 public:
  HeadSink(const RemoteLocation& location, size_t bytes)
      : VersionedSink(location, found_), bytes_(std::max<size_t>(bytes, 1)) {}

  bool complete() const override {
    return done() == bytes_ || (found_.size && done() == *found_.size);
  }
  // The head of the first answer that had bytes, or said that the file has none; nothing where no
  // such answer came.
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

// A whole file, of a server that sends no parts; handed on as it comes. Where a try breaks off, the
// next one begins anew, and what has come before must be the same bytes again.
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
  uint32_t checksum_ = 0;  // of all that was handed on
  uint32_t repeated_ = 0;  // of what this answer has had of that
};

}  // namespace stoker::internal
