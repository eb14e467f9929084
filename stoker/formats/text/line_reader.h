// Lines of text from a ByteSource, one by one.
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
  // The line has more than the limit, `length` bytes in all; `text` is empty.
  bool too_long = false;
  uint64_t length = 0;
};

// A line ends with LF or CR LF, which are not part of it, or with the file; behind a last LF there
// is no further line. A CR elsewhere is a byte like others. Memory: a window of 64 KiB, and up to
// twice `max_bytes` where lines are that long. One thread at a time.
class LineReader {
 public:
  // `source` stands at the first byte of line `number`. Lines of more than `max_bytes` are passed
  // over without being held. `account` (may be null) is charged with the window.
  // `window_bytes`: what is read at first at a time; less where only one line is wanted.
  LineReader(std::unique_ptr<ByteSource> source, int64_t max_bytes, int64_t number = 0,
             std::shared_ptr<MemoryAccount> account = nullptr, size_t window_bytes = kWindowBytes);

  // The next line; nothing at the end. Errors: those of the source.
  Result<std::optional<Line>> Next();

  // What the next line will have: a new reader begun with these goes on from there.
  uint64_t offset() const { return window_.offset(); }
  int64_t number() const { return number_; }

 private:
  static constexpr size_t kWindowBytes = 64 << 10;

  // What the window may grow to.
  size_t MostBytes() const;
  // The line of `length` bytes, of which `with_end` with its end, at the front of what is held.
  Line Take(size_t length, size_t with_end);
  // The line that begins what is held, of which no end has been found within the limit.
  Result<std::optional<Line>> PassOver();

  const size_t max_bytes_;
  ReadWindow window_;
  int64_t number_;
};

}  // namespace stoker
