// Rows of a CSV file from a stream, one by one. README.md says what a row is.
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
  char comment = 0;  // what lines that are no rows begin with; 0: there are none
};

struct CsvRow {
  std::string_view text;  // without its end; valid until the next call
  uint64_t offset = 0;    // of its first byte in the (decompressed) content
  int64_t number = 0;     // from 0; the header, where there is one, counts
  int64_t line = 0;       // of its first byte, from 1; 0 where that is not known
};

// "line 3", or "lines 3 to 5" of a row with line ends in quotes, and then ", "; empty where the
// line, from 1, is 0: not known. For messages.
std::string CsvLinesText(int64_t line, std::string_view row);

// Memory: a window of 256 KiB, and up to twice `max_bytes` where rows are that long. One thread at
// a time.
class CsvRowReader {
 public:
  // Where a reader stands in a file.
  struct Start {
    int64_t number = 0;  // of the next row
    int64_t line = 1;    // that it begins in, from 1; 0 where that is not known
  };

  // `source` stands at the beginning of row `start.number`, or of lines that are none.
  CsvRowReader(std::unique_ptr<ByteSource> source, const CsvDialect& dialect, int64_t max_bytes,
               Start start = {0, 1}, std::shared_ptr<MemoryAccount> account = nullptr);

  // The next row; nothing at the end. Errors: kDataLoss for a quote that is never closed and a row
  // of more than `max_bytes`; those of the source. They are final.
  Result<std::optional<CsvRow>> Next();

  // Where the next row, or lines that are none, begin: a new reader begun with these goes on from
  // there.
  uint64_t offset() const { return window_.offset(); }
  const Start& start() const { return next_; }

 private:
  // A row, or a line that is none, at the beginning of what is held.
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

// Where a row ends: the part of `text`, which begins with one, up to its line end, without it.
std::string_view FirstCsvRow(std::string_view text, const CsvDialect& dialect);

// That no CR that no LF follows stands in a row outside quotes: it may have been meant as the end
// of a row, as old Macs write them. Errors: kDataLoss, with the byte within the row.
Status CheckLineEnds(std::string_view row, const CsvDialect& dialect);

// Where the rows of a file begin, from row `first` on, and the last one ends, as OffsetIndex::Of
// takes them. What lies between two rows belongs to the first of them.
Result<std::vector<uint64_t>> ScanCsvRows(const File& file, const CsvDialect& dialect,
                                          int64_t first, int64_t max_bytes);

}  // namespace stoker
