// Cells of CSV rows as numbers and texts. README.md says what a cell is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/dtype.h"
#include "stoker/base/status.h"
#include "stoker/formats/csv/row_reader.h"

namespace stoker {

// The most columns that a file may have. Each that is known by a name takes some hundred bytes.
inline constexpr size_t kMostCsvColumns = size_t{1} << 20;

// All cells of a row, without their quotes. Errors: kDataLoss, with the column, for more than
// `most` cells, of which no more are held then, and those of CheckLineEnds.
Result<std::vector<std::string>> SplitCsvRow(std::string_view row, const CsvDialect& dialect,
                                             size_t most = kMostCsvColumns);

// The cell without blanks around it, as numbers are read.
std::string_view TrimmedCsvCell(std::string_view cell);

// Whether it means a missing value: a cell of nothing does, and one of `marks`.
bool IsMissingCsvCell(std::string_view cell, const std::vector<std::string>& marks);

// What programs write for a missing value: NA, null, ?, ... What a cell means its reader must say.
const std::vector<std::string>& UsualMissingMarks();

// One column that is wanted, and where its value goes.
struct CsvColumn {
  int64_t column = 0;             // in the row, from 0
  std::string name;               // for errors
  bool text = false;              // its characters; else a number of type `dtype`
  DType dtype = DType::kFloat32;  // uint8, int32, int64, float32 or float64
  size_t field = 0;               // into which memory, or which text
  int64_t index = 0;              // which value there
  // What stands for a missing value, as it would be written; without one a number that is missing
  // is an error, a text empty.
  bool has_default = false;
  std::string default_text;
};

// Writes the wanted cells of rows to memory. Immutable; thread-safe.
class CsvRowParser {
 public:
  // Rows have `columns` cells. Each column is wanted once at most. `missing`: the cells that mean a
  // missing value, as those of nothing always do. Errors: kInvalidArgument for a default that is no
  // such number.
  static Result<CsvRowParser> Make(const CsvDialect& dialect, int64_t columns,
                                   std::vector<CsvColumn> wanted,
                                   std::vector<std::string> missing = {});

  // `fields`: for each field of numbers where its values go, `texts` for each field of text what it
  // becomes; those not needed are ignored. Errors: kDataLoss, with the column, and those of
  // CheckLineEnds; the caller knows which row it is. Where the row is good, what is written depends
  // on nothing else.
  Status Parse(std::string_view row, std::span<std::byte* const> fields,
               std::span<std::string> texts) const;

 private:
  // Consecutive columns of one type whose values lie side by side.
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
