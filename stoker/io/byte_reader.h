// ByteReader: a checked cursor for parsers. Every read checks the length first, and every error
// says where: "train-images: byte 16: 47040000 bytes of values wanted, 1000 there; the data is cut
// short or announces too much".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// One thread at a time. `what` names in errors what was being read; optional.
class ByteReader {
 public:
  // Over bytes in memory, borrowed; reads cost a comparison and a copy.
  ByteReader(std::span<const std::byte> bytes, std::string name);
  // Over a source, borrowed and read from its current position; reads up to 64 KiB ahead.
  explicit ByteReader(ByteSource& source);

  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  const std::string& name() const { return name_; }
  // Returns the offset of the next byte.
  uint64_t position() const { return window_position_ + cursor_; }

  // Integers of the named width, little- or big-endian. Errors: kDataLoss if fewer bytes are left;
  // those of the source.
  Result<uint8_t> ReadU8(std::string_view what = {});
  Result<uint16_t> ReadU16Le(std::string_view what = {});
  Result<uint16_t> ReadU16Be(std::string_view what = {});
  Result<uint32_t> ReadU32Le(std::string_view what = {});
  Result<uint32_t> ReadU32Be(std::string_view what = {});
  Result<uint64_t> ReadU64Le(std::string_view what = {});
  Result<uint64_t> ReadU64Be(std::string_view what = {});

  // Fills `out`, large reads without an intermediate copy.
  Status ReadBytes(std::span<std::byte> out, std::string_view what = {});
  Status Skip(uint64_t bytes, std::string_view what = {});

  // Returns up to `count` (at most 64 KiB) of the next bytes without consuming them; fewer near the
  // end. Valid until the next call.
  Result<std::span<const std::byte>> Peek(size_t count);

  // Fails if `bytes` more cannot be there. Call it before allocating memory for them. Success
  // proves nothing for compressed sources, whose size is known only roughly.
  Status CheckAvailable(uint64_t bytes, std::string_view what = {}) const;

  // Fails unless this is the end. For a compressed source this also verifies its checksum: end
  // every parse with it.
  Status ExpectEnd();

 private:
  size_t buffered() const { return window_.size() - cursor_; }
  // Makes `bytes` (at most 64 KiB), or as many as there are, available in the window; returns how
  // many.
  Result<size_t> Fill(size_t bytes);
  Result<size_t> ReadThroughWindow(std::span<std::byte> out);
  Result<size_t> ReadDirectly(std::span<std::byte> out);
  Status CutShort(uint64_t wanted, std::string_view there, uint64_t at,
                  std::string_view what) const;
  template <typename T, bool kBigEndian>
  Result<T> ReadInteger(std::string_view what);

  ByteSource* source_ = nullptr;  // null: the window is all there is
  std::string name_;
  std::vector<std::byte> storage_;  // of the window of a source
  std::span<const std::byte> window_;
  uint64_t window_position_ = 0;  // offset of window_[0]
  size_t cursor_ = 0;
};

}  // namespace stoker
