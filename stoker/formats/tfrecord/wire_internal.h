// A cursor over the part of protocol buffer wire format that tf.train.Example uses. README.md names
// the types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker::internal {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireTag {
  uint64_t field = 0;
  WireType type = WireType::kVarint;
};

// Every read returns whether it succeeded; if not, at() is the byte at fault. The bytes are
// borrowed.
class WireCursor {
 public:
  explicit WireCursor(std::span<const std::byte> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool done() const { return at_ == end_; }
  const std::byte* at() const { return at_; }

  bool ReadVarint(uint64_t& value) {
    if (at_ == end_) return false;
    const auto first = std::to_integer<uint64_t>(*at_);
    if (first < 0x80) {
      value = first;
      ++at_;
      return true;
    }
    return ReadLongVarint(value);
  }

  bool ReadTag(WireTag& tag) {
    const std::byte* const begin = at_;
    uint64_t value = 0;
    if (!ReadVarint(value)) return false;
    tag = {.field = value >> 3, .type = static_cast<WireType>(value & 7)};
    if (tag.field != 0) return true;
    at_ = begin;
    return false;
  }

  // Reads the value of a kBytes tag.
  bool ReadBytes(std::span<const std::byte>& bytes) {
    const std::byte* const begin = at_;
    uint64_t length = 0;
    if (!ReadVarint(length) || length > static_cast<uint64_t>(end_ - at_)) {
      at_ = begin;
      return false;
    }
    bytes = {at_, static_cast<size_t>(length)};
    at_ += length;
    return true;
  }

  // Skips any value. Returns false also for a type that these messages do not use (groups).
  bool Skip(WireType type) {
    uint64_t ignored = 0;
    std::span<const std::byte> bytes;
    switch (type) {
      case WireType::kVarint: return ReadVarint(ignored);
      case WireType::kFixed64: return Advance(8);
      case WireType::kBytes: return ReadBytes(bytes);
      case WireType::kFixed32: return Advance(4);
    }
    return false;
  }

 private:
  bool Advance(std::ptrdiff_t bytes) {
    if (end_ - at_ < bytes) return false;
    at_ += bytes;
    return true;
  }

  // Reads at most ten bytes; drops bits beyond 64, as protobuf does.
  bool ReadLongVarint(uint64_t& value) {
    constexpr int kMostBits = 70;
    uint64_t result = 0;
    const std::byte* at = at_;
    for (int shift = 0; shift < kMostBits && at < end_; shift += 7) {
      const auto byte = std::to_integer<uint64_t>(*at++);
      result |= shift < 64 ? (byte & 0x7f) << shift : 0;
      if (byte < 0x80) {
        value = result;
        at_ = at;
        return true;
      }
    }
    return false;
  }

  const std::byte* at_;
  const std::byte* const end_;
};

}  // namespace stoker::internal
