// Parses cells of CSV rows to numbers and texts. README.md defines cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/dtype.h"
#include "stoker/base/status.h"
#include "stoker/formats/csv/row_reader.h"

namespace stoker {

// The most columns that a file may have. A named column takes about a hundred bytes.
inline constexpr size_t kMostCsvColumns = size_t{1} << 20;

// Returns all cells of a row, without their quotes. Errors: kDataLoss, with the column, for more
// than `most` cells (no more than that are stored), and those of CheckLineEnds.
Result<std::vector<std::string>> SplitCsvRow(std::string_view row, const CsvDialect& dialect,
                                             size_t most = kMostCsvColumns);

// Returns the cell without blanks around it; numbers are read so.
std::string_view TrimmedCsvCell(std::string_view cell);

// Returns the number that a cell holds, as a column of float64 reads it; nothing for any other
// cell.
std::optional<double> NumberInCsvCell(std::string_view cell);

// Returns whether the cell means a missing value: it is empty, or one of `marks`.
bool IsMissingCsvCell(std::string_view cell, const std::vector<std::string>& marks);

// Returns what programs write for a missing value: NA, null, ?, ... The caller decides which of
// them apply.
const std::vector<std::string>& UsualMissingMarks();

// One wanted column and the destination of its value.
struct CsvColumn {
  int64_t column = 0;             // in the row, from 0
  std::string name;               // for errors
  bool text = false;              // true: as text; false: a number of type `dtype`
  DType dtype = DType::kFloat32;  // uint8, int32, int64, float32 or float64
  size_t field = 0;               // number of the destination memory or text
  int64_t index = 0;              // number of the value there
  // The replacement for a missing value, as it would be written. Without one a missing number is an
  // error and a missing text is empty.
  bool has_default = false;
  std::string default_text;
};

// Writes the wanted cells of rows to memory. Immutable; thread-safe.
class CsvRowParser {
 public:
  // Rows have `columns` cells. A column is wanted at most once. `missing`: the cells that, beside
  // empty ones, mean a missing value. Errors: kInvalidArgument for a default that is not a valid
  // number.
  static Result<CsvRowParser> Make(const CsvDialect& dialect, int64_t columns,
                                   std::vector<CsvColumn> wanted,
                                   std::vector<std::string> missing = {});

  // `fields`: the destination of each field of numbers; `texts`: the destination of each field of
  // text; those not needed are ignored. Errors: kDataLoss, with the column, and those of
  // CheckLineEnds; the caller adds the row. The result of a good row depends on nothing but the
  // row.
  Status Parse(std::string_view row, std::span<std::byte* const> fields,
               std::span<std::string> texts) const;

 private:
  // Consecutive columns of one type whose destinations are consecutive.
  struct Run {
    int64_t column, count;
    size_t first;  // of wanted_
  };
  CsvRowParser(const CsvDialect& dialect, int64_t columns, std::vector<CsvColumn> wanted,
               std::vector<std::string> missing);

  template <typename T>
  Status ParseRun(const Run& run, T* out, const char*& at, const char* end) const;
  template <typename T>
  Status ParseSlowly(const CsvColumn& column, const char*& at, const char* end, T& out) const;
  Status ParseText(const CsvColumn& column, const char*& at, const char* end,
                   std::string& out) const;
  Status ParseOne(const Run& run, std::span<std::byte* const> fields, std::span<std::string> texts,
                  const char*& at, const char* end) const;
  Status SkipCells(int64_t from, int64_t count, const char*& at, const char* end) const;
  Status WrongCount(std::string_view row) const;

  const CsvDialect dialect_;
  const int64_t columns_;
  const std::vector<CsvColumn> wanted_;  // by column
  const std::vector<std::string> missing_;
  const bool number_is_missing_;  // whether one of them is written as a number
  std::vector<Run> runs_;
};

}  // namespace stoker
