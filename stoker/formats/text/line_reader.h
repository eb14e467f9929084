// Reads lines of text from a ByteSource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "stoker/base/ledger.h"
#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/read_window.h"

namespace stoker {

struct Line {
  std::string_view text;  // without its end; valid until the next call
  uint64_t offset = 0;    // of its first byte in the (decompressed) content
  int64_t number = 0;     // from 0
  // The line exceeds the limit and has `length` bytes in all; `text` is empty.
  bool too_long = false;
  uint64_t length = 0;
};

// A line ends with LF or CR LF, which are not part of it, or with the file; there is no line after
// a last LF. A CR elsewhere is an ordinary byte. Memory: a window of 64 KiB, and up to twice
// `max_bytes` if lines are that long. One thread at a time.
class LineReader {
 public:
  // `source` is at the first byte of line `number`. Skips lines of more than `max_bytes` without
  // storing them. Charges the window to `account` (may be null). `window_bytes`: the initial
  // window; smaller if only one line is wanted.
  LineReader(std::unique_ptr<ByteSource> source, int64_t max_bytes, int64_t number = 0,
             std::shared_ptr<MemoryAccount> account = nullptr, size_t window_bytes = kWindowBytes);

  // Returns the next line; nothing at the end. Errors: those of the source.
  Result<std::optional<Line>> Next();

  // Return the offset and number of the next line. A new reader with these values continues there.
  uint64_t offset() const { return window_.offset(); }
  int64_t number() const { return number_; }

 private:
  static constexpr size_t kWindowBytes = 64 << 10;

  // Returns the limit of the window.
  size_t MostBytes() const;
  // Consumes the line at the beginning of the window: `length` bytes, `with_end` with its end.
  Line Take(size_t length, size_t with_end);
  // Skips the line at the beginning of the window, which has no end within the limit.
  Result<std::optional<Line>> PassOver();

  const size_t max_bytes_;
  ReadWindow window_;
  int64_t number_;
};

}  // namespace stoker
