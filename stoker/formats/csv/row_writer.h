// Writes CSV and TSV files. README.md defines rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/status.h"
#include "stoker/formats/csv/row_reader.h"
#include "stoker/io/compressed_file.h"

namespace stoker {

// Quotes a cell if it needs quotes to read back unchanged. Writes numbers with the fewest digits
// that read back to the same number. The file has its name once Commit has returned
// (io/atomic_file.h). Movable; one thread at a time. Errors: those of CompressedFileWriter.
class CsvRowWriter {
 public:
  // `dialect`: if it has a comment character, a cell that begins a row with it is quoted. Errors:
  // also kInvalidArgument for a dialect without a quote.
  static Result<CsvRowWriter> Create(std::string path, const CsvDialect& dialect = {},
                                     Compression compression = Compression::kNone);

  // Add a cell to the current row.
  void AddText(std::string_view cell);
  void AddNumber(int64_t number);
  void AddNumber(float number);
  void AddNumber(double number);

  // Ends the row, which has at least one cell, with LF. Errors: also kInvalidArgument for a row of
  // another number of cells than the first.
  Status EndRow();
  Status Commit();

 private:
  CsvRowWriter(CompressedFileWriter file, const CsvDialect& dialect)
      : file_(std::move(file)), dialect_(dialect) {}
  void BeginCell();
  bool MustBeQuoted(std::string_view cell) const;

  CompressedFileWriter file_;
  CsvDialect dialect_;
  std::string row_;
  int64_t cells_ = 0;     // of the current row
  int64_t columns_ = -1;  // in the first row
  int64_t rows_ = 0;
};

}  // namespace stoker
