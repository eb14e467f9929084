// What a parser of a stream holds of it: the bytes read and not yet passed over.
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

// Memory: `bytes` at first, and twice as much whenever it is full of bytes that are held. One
// thread at a time.
class ReadWindow {
 public:
  // `account` (may be null) is charged.
  ReadWindow(std::unique_ptr<ByteSource> source, size_t bytes,
             std::shared_ptr<MemoryAccount> account);

  // What is held, as bytes and as text. Valid until Refill or Hold.
  std::span<const std::byte> held() const { return {window_.data() + begin_, end_ - begin_}; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(window_.data()) + begin_, end_ - begin_};
  }
  // Where the first byte held, or the next to be read, stands in the content.
  uint64_t offset() const { return offset_; }
  const ByteSource& source() const { return *source_; }

  // Reads more behind what is held; false at the end of the source. `most`: what the memory may
  // grow to, more than is held. Errors: those of the source.
  Result<bool> Refill(size_t most = std::numeric_limits<size_t>::max());
  // Refills until at least `bytes` are held; false where the source ends before. Memory follows
  // what is there, not what is asked for.
  Result<bool> Hold(uint64_t bytes);
  // Lets the first bytes of what is held go.
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
  size_t begin_ = 0, end_ = 0;  // of what is held in it
  uint64_t offset_;
};

// The length of a line without a CR at its end.
inline size_t LengthWithoutCr(std::string_view line) {
  return line.ends_with('\r') ? line.size() - 1 : line.size();
}

}  // namespace stoker
