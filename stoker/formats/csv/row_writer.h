// Writes CSV and TSV files. README.md says what a row is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/status.h"
#include "stoker/formats/csv/row_reader.h"
#include "stoker/io/compressed_file.h"

namespace stoker {

// Rows of cells; each is quoted where it must be to be read again as it was. Numbers are written in
// the fewest digits that give the same number back. The file has its name once Commit has returned
// (io/atomic_file.h). Moves; one thread at a time. Errors: those of CompressedFileWriter.
class CsvRowWriter {
 public:
  // `dialect`: its comment character, where there is one, makes cells that begin a row with it
  // quoted. Errors: also kInvalidArgument for a dialect without a quote.
  static Result<CsvRowWriter> Create(std::string path, const CsvDialect& dialect = {},
                                     Compression compression = Compression::kNone);

  // Cells of the row under way.
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
  int64_t cells_ = 0;     // of the row under way
  int64_t columns_ = -1;  // of the first row
  int64_t rows_ = 0;
};

}  // namespace stoker
