#include "stoker/image/png_stream.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stoker {
namespace {

// A chunk: length of the data, type, data, CRC-32 of type and data (PNG specification, 5.3).
constexpr size_t kLengthBytes = 4, kTypeBytes = 4, kCrcBytes = 4;
constexpr size_t kAroundData = kLengthBytes + kTypeBytes + kCrcBytes;
constexpr uint32_t kLongest = 0x7fffffff;

uint32_t BigEndian(const std::byte* bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<uint32_t>(bytes[i]);
  return value;
}

// Ancillary chunks begin with a small letter.
bool IsKept(std::string_view type) {
  const bool critical = (type[0] & 0x20) == 0;
  return critical || type == "tRNS" || type == "eXIf";
}

bool IsLetters(std::string_view type) {
  return std::ranges::all_of(
      type, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
}

}  // namespace

// Stands at the beginning of a chunk. False if it is damaged or the file ends within it; what is
// no chunk at all is kept, and libspng says what is wrong.
bool PngStream::EnterKeptChunk() {
  while (bytes_.size() - at_ >= kAroundData) {
    const std::byte* const chunk = bytes_.data() + at_;
    const uint32_t length = BigEndian(chunk);
    const std::string_view type(reinterpret_cast<const char*>(chunk + kLengthBytes), kTypeBytes);
    const size_t left = bytes_.size() - at_ - kAroundData;
    if (length > kLongest || !IsLetters(type)) {
      kept_to_ = bytes_.size();
      return true;
    }
    if (IsKept(type)) {
      kept_to_ = at_ + kAroundData + length;
      return true;
    }
    if (length > left) return false;
    const auto* const summed = reinterpret_cast<const Bytef*>(chunk + kLengthBytes);
    const auto sum = static_cast<uint32_t>(::crc32(0, summed, length + kTypeBytes));
    if (sum != BigEndian(chunk + kLengthBytes + kTypeBytes + length)) {
      damage_ = fmt::format("the checksum of chunk {} is not that of its {} bytes", type, length);
      return false;
    }
    at_ += kAroundData + length;
  }
  return false;
}

bool PngStream::Read(std::byte* to, size_t length) {
  while (length > 0) {
    if (at_ >= kept_to_ && !EnterKeptChunk()) {
      cut_short_ = damage_.empty();
      return false;
    }
    const size_t end = std::min(kept_to_, bytes_.size());
    const size_t part = std::min(length, end - std::min(at_, end));
    if (part == 0) {
      cut_short_ = true;
      return false;
    }
    std::memcpy(to, bytes_.data() + at_, part);
    at_ += part;
    to += part;
    length -= part;
  }
  return true;
}

}  // namespace stoker
