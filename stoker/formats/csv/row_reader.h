// Rows of a CSV file from a stream, one by one. README.md says what a row is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
};

// Memory: a window of 256 KiB, and up to twice `max_bytes` where rows are that long. One thread at
// a time.
class CsvRowReader {
 public:
  // `source` stands at the begin of row `number`, or of lines that are none.
  CsvRowReader(std::unique_ptr<ByteSource> source, const CsvDialect& dialect, int64_t max_bytes,
               int64_t number = 0, std::shared_ptr<MemoryAccount> account = nullptr);

  // The next row; nothing at the end. Errors: kDataLoss for a quote that is never closed and a row
  // of more than `max_bytes`; those of the source. They are final.
  Result<std::optional<CsvRow>> Next();

  // Where the next row, or lines that are none, begin, and its number: a new reader begun with
  // these goes on from there.
  uint64_t offset() const { return window_.offset(); }
  int64_t number() const { return number_; }

 private:
  // Bytes of the line or row that begins what is held, without its end; sets `with_end`.
  Result<size_t> FindEnd(bool quotes, size_t& with_end);
  Status SkipByteOrderMark();

  const CsvDialect dialect_;
  const size_t max_bytes_;
  ReadWindow window_;
  int64_t number_;
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
