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

// A part of a file whose version is known, from `offset` on, into memory.
class RangeSink final : public RemoteSink {
 public:
  RangeSink(const RemoteLocation& location, const RemoteVersion& version, uint64_t offset,
            std::span<std::byte> out, const std::function<void(size_t)>& progress)
      : location_(location), version_(version), offset_(offset), out_(out), progress_(progress) {}

  bool full() const { return done_ == out_.size(); }
  RemoteRequest Next() override;
  uint64_t received() const override { return done_; }
  Status refusal() const override { return refusal_; }
  bool Begin(const HttpHead& head) override;
  bool Take(std::span<const std::byte> bytes) override;

 private:
  const RemoteLocation& location_;
  const RemoteVersion& version_;
  const uint64_t offset_;
  const std::span<std::byte> out_;
  const std::function<void(size_t)>& progress_;
  size_t done_ = 0;
  uint64_t skip_ = 0;  // bytes of an answer that begins before what is wanted
  Status refusal_;
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
class WholeSink final : public RemoteSink {
 public:
  using TakeBytes = std::function<Status(std::span<const std::byte>)>;
  WholeSink(const RemoteLocation& location, const RemoteVersion& version, const TakeBytes& take)
      : location_(location), version_(version), take_(take) {}

  RemoteRequest Next() override { return {}; }
  uint64_t received() const override { return handed_on_; }
  Status refusal() const override { return refusal_; }
  bool Begin(const HttpHead& head) override;
  bool Take(std::span<const std::byte> bytes) override;

 private:
  const RemoteLocation& location_;
  const RemoteVersion& version_;
  const TakeBytes& take_;
  uint64_t handed_on_ = 0;
  uint64_t skip_ = 0;  // bytes of this try that an earlier one has brought
  Status refusal_;
};

}  // namespace stoker::internal
