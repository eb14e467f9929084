// The part of a stream that a parser holds: the bytes read and not yet consumed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/buffer.h"
#include "stoker/base/ledger.h"
#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// Memory: `bytes` at first, doubled whenever it is full. One thread at a time.
class ReadWindow {
 public:
  // `account` (may be null) is charged.
  ReadWindow(std::unique_ptr<ByteSource> source, size_t bytes,
             std::shared_ptr<MemoryAccount> account);

  // Return the bytes held. Valid until Refill or Hold.
  std::span<const std::byte> held() const { return {window_.data() + begin_, end_ - begin_}; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(window_.data()) + begin_, end_ - begin_};
  }
  // Returns the offset in the content of the first byte held or, if there is none, of the next to
  // be read.
  uint64_t offset() const { return offset_; }
  const ByteSource& source() const { return *source_; }

  // Reads more after the bytes held; returns false at the end of the source. `most`: the limit of
  // the memory, more than is held. Errors: those of the source.
  Result<bool> Refill(size_t most = std::numeric_limits<size_t>::max());
  // Refills until at least `bytes` are held; returns false if the source ends before. Memory grows
  // with the bytes read, not with `bytes`.
  Result<bool> Hold(uint64_t bytes);
  // Consumes the first bytes held.
  void PassOver(size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }

 private:
  void MakeRoom(size_t most);

  const std::unique_ptr<ByteSource> source_;
  const std::shared_ptr<MemoryAccount> account_;
  const size_t first_bytes_;
  Buffer window_;
  size_t begin_ = 0, end_ = 0;  // of the bytes held in it
  uint64_t offset_;
};

// Returns the length of a line without a CR at its end.
inline size_t LengthWithoutCr(std::string_view line) {
  return line.ends_with('\r') ? line.size() - 1 : line.size();
}

}  // namespace stoker
