// Reads rows of a CSV file from a stream. README.md defines rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/ledger.h"
#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/read_window.h"

namespace stoker {

struct CsvDialect {
  char delimiter = ',';
  char quote = '"';  // 0: no cell is quoted
  char comment = 0;  // begins lines that are not rows; 0: there are none
};

struct CsvRow {
  std::string_view text;  // without its end; valid until the next call
  uint64_t offset = 0;    // of its first byte in the (decompressed) content
  int64_t number = 0;     // from 0; a header counts
  int64_t line = 0;       // of its first byte, from 1; 0 if unknown
};

// Returns, for messages, "line 3, ", or "lines 3 to 5, " for a row with line ends in
// quotes. `line` counts from 1; empty if it is 0 (unknown).
std::string CsvLinesText(int64_t line, std::string_view row);

// Memory: a window of 256 KiB, and up to twice `max_bytes` if rows are that long. One thread at a
// time.
class CsvRowReader {
 public:
  // A reader's position in a file.
  struct Start {
    int64_t number = 0;  // of the next row
    int64_t line = 1;    // that it begins in, from 1; 0 if unknown
  };

  // `source` is at the beginning of row `start.number`, or of lines before it that are not rows.
  CsvRowReader(std::unique_ptr<ByteSource> source, const CsvDialect& dialect, int64_t max_bytes,
               Start start = {0, 1}, std::shared_ptr<MemoryAccount> account = nullptr);

  // Returns the next row; nothing at the end. Errors, which are final: kDataLoss for a quote that
  // is never closed and a row of more than `max_bytes`; those of the source.
  Result<std::optional<CsvRow>> Next();

  // Return where the next row, or lines before it that are not rows, begin. A new reader with these
  // values continues there.
  uint64_t offset() const { return window_.offset(); }
  const Start& start() const { return next_; }

 private:
  // A row, or a line that is not one, at the beginning of the window.
  struct Extent {
    size_t length = 0;    // in bytes, without its end
    size_t with_end = 0;  // in bytes
    int64_t lines = 1;
  };
  Result<Extent> FindEnd(bool quotes);
  void PassOver(const Extent& extent);
  Status SkipByteOrderMark();

  const CsvDialect dialect_;
  const size_t max_bytes_;
  ReadWindow window_;
  Start next_;
};

// Returns the first row of `text`, without its line end.
std::string_view FirstCsvRow(std::string_view text, const CsvDialect& dialect);

// Refuses a row with a CR outside quotes that no LF follows, because it may be meant as the end of
// a row (old Macs). Errors: kDataLoss, with the byte within the row.
Status CheckLineEnds(std::string_view row, const CsvDialect& dialect);

// Returns where the rows of a file begin, from row `first` on, and where the last one ends, as
// OffsetIndex::Of takes them. Bytes between two rows belong to the first of them.
Result<std::vector<uint64_t>> ScanCsvRows(const File& file, const CsvDialect& dialect,
                                          int64_t first, int64_t max_bytes);

}  // namespace stoker
