// What takes the answers of servers for RemoteFile.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "stoker/io/remote/remote_file.h"
#include "stoker/io/remote/remote_request.h"

namespace stoker::internal {

// The version that the head of an answer, whole or in part, tells of.
RemoteVersion VersionOf(const HttpHead& head);

// kFailedPrecondition where `now` is another version than `then`.
Status CheckUnchanged(const std::string& name, const RemoteVersion& then, const RemoteVersion& now);

// What comes of a file whose version is known: an answer of another version is refused, and what an
// answer has in front of the byte that is wanted next is passed over.
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
  // The first `bytes` of this answer are not wanted.
  void PassOver(uint64_t bytes) { skip_ = bytes; }
  // What is left of `bytes` behind those that are passed over.
  std::span<const std::byte> Wanted(std::span<const std::byte> bytes);

 private:
  const RemoteLocation& location_;
  const RemoteVersion& version_;
  uint64_t done_ = 0;  // bytes that were wanted, of all tries
  uint64_t skip_ = 0;
  Status refusal_;
};

// A part of a file, from `offset` on, into memory.
class RangeSink final : public VersionedSink {
 public:
  RangeSink(const RemoteLocation& location, const RemoteVersion& version, uint64_t offset,
            std::span<std::byte> out, const std::function<void(size_t)>& progress)
      : VersionedSink(location, version), offset_(offset), out_(out), progress_(progress) {}

  bool full() const { return done() == out_.size(); }
  RemoteRequest Next() override;
  bool Begin(const HttpHead& head) override;
  bool Take(std::span<const std::byte> bytes) override;

 private:
  const uint64_t offset_;
  const std::span<std::byte> out_;
  const std::function<void(size_t)>& progress_;
};

// The first bytes of a file of which nothing is known.
class HeadSink final : public RemoteSink {
 public:
  explicit HeadSink(size_t bytes) : bytes_(bytes) {}

  const HttpHead& head() const { return head_; }
  std::vector<std::byte> TakeContent() { return std::move(content_); }
  RemoteRequest Next() override;
  uint64_t received() const override { return content_.size(); }
  bool Begin(const HttpHead& head) override;
  bool Take(std::span<const std::byte> bytes) override;

 private:
  const size_t bytes_;  // of the head
  HttpHead head_;
  std::vector<std::byte> content_;
};

// A whole file, of a server that sends no parts; handed on as it comes.
class WholeSink final : public VersionedSink {
 public:
  using TakeBytes = std::function<Status(std::span<const std::byte>)>;
  WholeSink(const RemoteLocation& location, const RemoteVersion& version, const TakeBytes& take)
      : VersionedSink(location, version), take_(take) {}

  RemoteRequest Next() override { return {}; }
  bool Begin(const HttpHead& head) override;
  bool Take(std::span<const std::byte> bytes) override;

 private:
  const TakeBytes& take_;
};

}  // namespace stoker::internal
