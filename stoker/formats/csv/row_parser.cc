#include "stoker/formats/csv/row_parser.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "stoker/formats/number.h"

namespace stoker {
namespace {

// How much of a cell is quoted in messages.
constexpr size_t kShown = 40;

std::string_view Shown(std::string_view text) { return text.substr(0, kShown); }

// Where the next cell begins, or that this was the last: `at` is then past the end. The end of a
// row stands for a delimiter.
bool AtCellEnd(const char* at, const char* end, char delimiter) {
  return at == end || *at == delimiter;
}

// The cell at `at`, which is moved past the delimiter (or to end + 1); unquoted into `scratch` if
// necessary. The error does not name the column.
Result<std::string_view> TakeCell(const CsvDialect& dialect, const char*& at, const char* end,
                                  std::string& scratch) {
  const auto find = [&](char c, const char* from) {
    const void* const found = std::memchr(from, c, static_cast<size_t>(end - from));
    return found == nullptr ? end : static_cast<const char*>(found);
  };
  if (dialect.quote == 0 || at == end || *at != dialect.quote) {
    const char* const cell_end = at == end ? end : find(dialect.delimiter, at);
    const std::string_view cell(at, static_cast<size_t>(cell_end - at));
    if (dialect.quote != 0 && cell.find(dialect.quote) != cell.npos) {
      return DataLoss(
          "'{}' has a quote, but does not begin with one; quote the cell, doubling the "
          "quote, or read with quote: \"\"",
          Shown(cell));
    }
    at = cell_end + 1;
    return cell;
  }
  scratch.clear();
  for (++at;;) {
    const char* const quote = at < end ? find(dialect.quote, at) : end;
    scratch.append(at, quote);
    if (quote == end) return DataLoss("a quote is never closed; close it");
    at = quote + 1;
    if (at == end || *at != dialect.quote) break;
    scratch += dialect.quote;
    ++at;
  }
  if (!AtCellEnd(at, end, dialect.delimiter)) {
    return DataLoss(
        "'{}' is followed by '{}' instead of a delimiter; double quotes that are part of "
        "a cell",
        Shown(scratch), *at);
  }
  ++at;
  return std::string_view(scratch);
}

// The whole of `text` as a number, allowing blanks around it and a leading +.
template <typename T>
NumberFault ReadNumber(std::string_view text, T& out) {
  text = TrimmedCsvCell(text);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  return ParseNumber(text, out);
}

template <typename T>
constexpr std::string_view kKind = std::is_floating_point_v<T> ? "a number" : "an integer";

template <typename T>
std::string RangeOf() {
  if constexpr (std::is_floating_point_v<T>) return "";
  return fmt::format(" of {} to {}", std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

// 10 to the power of `digits`, of which a float holds those up to 10 exactly and a double all.
template <typename T>
T PowerOfTen(std::ptrdiff_t digits) {
  static constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  return static_cast<T>(kPowers[digits]);
}

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The number at `at` where it is as most are: a sign, up to so many digits that T holds them
// exactly, a point among them where T has fractions, and the end of the cell. Moves past the
// delimiter. False: nothing has changed.
//
// A quotient of two numbers that T holds exactly is the decimal number rounded once, as the
// standard's conversion rounds it (Clinger, "How to read floating point numbers accurately", 1990).
template <typename T>
bool ReadPlainNumber(const char*& at, const char* end, char delimiter, T& out) {
  constexpr int kMostDigits = sizeof(T) == 1 ? 3 : sizeof(T) == 4 ? 7 : 15;
  const char* from = at;
  const bool negative = from < end && *from == '-';
  from += negative ? 1 : 0;
  const char* const digits = from;
  int64_t number = 0;
  while (from < end && IsDigit(*from) && from - digits <= kMostDigits)
    number = number * 10 + (*from++ - '0');
  auto count = from - digits;
  if (count == 0) return false;
  std::ptrdiff_t decimals = 0;
  if constexpr (std::is_floating_point_v<T>) {
    if (from < end && *from == '.' && delimiter != '.') {
      const char* const point = from++;
      while (from < end && IsDigit(*from) && from - digits <= kMostDigits + 1)  // 1: the point
        number = number * 10 + (*from++ - '0');
      decimals = from - point - 1;
      if (decimals == 0) return false;
      count += decimals;
    }
  }
  if (count > kMostDigits || !AtCellEnd(from, end, delimiter)) return false;
  if (negative && (std::is_unsigned_v<T> || number == 0)) return false;  // -0.0 keeps its sign
  if (sizeof(T) == 1 && number > std::numeric_limits<uint8_t>::max()) return false;
  out = static_cast<T>(negative ? -number : number);
  if constexpr (std::is_floating_point_v<T>) {
    if (decimals > 0) out /= PowerOfTen<T>(decimals);
  }
  at = from + 1;
  return true;
}

Status InColumn(const CsvColumn& column, const Status& error) {
  return Status(error.code(),
                fmt::format("column {} ('{}'): {}", column.column, column.name, error.message()));
}

// Whether a cell of nothing but this would be read as a number.
bool IsWrittenAsNumber(std::string_view text) {
  double ignored = 0;
  return ReadNumber(text, ignored) != NumberFault::kNoNumber;
}

}  // namespace

std::string_view TrimmedCsvCell(std::string_view cell) {
  const size_t begin = cell.find_first_not_of(" \t");
  if (begin == cell.npos) return {};
  return cell.substr(begin, cell.find_last_not_of(" \t") + 1 - begin);
}

std::optional<double> NumberInCsvCell(std::string_view cell) {
  double number = 0;
  if (ReadNumber(cell, number) != NumberFault::kNone) return std::nullopt;
  return number;
}

bool IsMissingCsvCell(std::string_view cell, const std::vector<std::string>& marks) {
  return cell.empty() || std::ranges::find(marks, cell) != marks.end();
}

const std::vector<std::string>& UsualMissingMarks() {
  // As written by R, spreadsheets, SQL, Python and people.
  static const std::vector<std::string> marks = {
      "NA",  "N/A",  "n/a",  "na",   "<NA>", "#N/A",    "#NA",    "NaN",
      "nan", "-nan", "NULL", "null", "Null", "None",    "none",   "nil",
      "\\N", "?",    "-",    "--",   ".",    "missing", "unknown"};
  return marks;
}

Result<std::vector<std::string>> SplitCsvRow(std::string_view row, const CsvDialect& dialect,
                                             size_t most) {
  STOKER_RETURN_IF_ERROR(CheckLineEnds(row, dialect));
  std::vector<std::string> cells;
  std::string scratch;
  const char* at = row.data();
  const char* const end = at + row.size();
  while (at <= end) {
    const Result<std::string_view> cell = TakeCell(dialect, at, end, scratch);
    if (!cell.ok()) {
      return Status(cell.status().code(),
                    fmt::format("column {}: {}", cells.size(), cell.status().message()));
    }
    if (cells.size() == most) {
      return DataLoss(
          "the row has more than {} cells; check the delimiter and the quotes, or read the file "
          "as lines",
          most);
    }
    cells.emplace_back(*cell);
  }
  return cells;
}

CsvRowParser::CsvRowParser(const CsvDialect& dialect, int64_t columns,
                           std::vector<CsvColumn> wanted, std::vector<std::string> missing)
    : dialect_(dialect),
      columns_(columns),
      wanted_(std::move(wanted)),
      missing_(std::move(missing)),
      number_is_missing_(std::ranges::any_of(missing_, IsWrittenAsNumber)) {
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const CsvColumn& column = wanted_[i];
    const CsvColumn* const before = i == 0 ? nullptr : &wanted_[i - 1];
    const bool joins = before != nullptr && !column.text && !before->text &&
                       column.column == before->column + 1 && column.field == before->field &&
                       column.index == before->index + 1 && column.dtype == before->dtype;
    if (joins) {
      ++runs_.back().count;
    } else {
      runs_.push_back({column.column, 1, i});
    }
  }
}

Result<CsvRowParser> CsvRowParser::Make(const CsvDialect& dialect, int64_t columns,
                                        std::vector<CsvColumn> wanted,
                                        std::vector<std::string> missing) {
  std::ranges::sort(wanted, {}, &CsvColumn::column);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const CsvColumn& column = wanted[i];
    if (column.column < 0 || column.column >= columns) {
      return InvalidArgument("column {} ('{}') is wanted, but rows have {}", column.column,
                             column.name, columns);
    }
    if (i > 0 && wanted[i - 1].column == column.column)
      return InvalidArgument("column {} ('{}') is wanted twice", column.column, column.name);
    double ignored = 0;
    if (column.has_default && !column.text &&
        ReadNumber(column.default_text, ignored) != NumberFault::kNone) {
      return InvalidArgument("column {} ('{}'): default '{}' is not a number; give one",
                             column.column, column.name, column.default_text);
    }
  }
  return CsvRowParser(dialect, columns, std::move(wanted), std::move(missing));
}

Status CsvRowParser::Parse(std::string_view row, std::span<std::byte* const> fields,
                           std::span<std::string> texts) const {
  STOKER_RETURN_IF_ERROR(CheckLineEnds(row, dialect_));
  const char* at = row.data();
  const char* const end = at + row.size();
  int64_t column = 0;
  for (const Run& run : runs_) {
    STOKER_RETURN_IF_ERROR(SkipCells(column, run.column - column, at, end));
    STOKER_RETURN_IF_ERROR(ParseOne(run, fields, texts, at, end));
    column = run.column + run.count;
  }
  STOKER_RETURN_IF_ERROR(SkipCells(column, columns_ - column, at, end));
  return at == end + 1 ? OkStatus() : WrongCount(row);
}

Status CsvRowParser::ParseOne(const Run& run, std::span<std::byte* const> fields,
                              std::span<std::string> texts, const char*& at,
                              const char* end) const {
  const CsvColumn& first = wanted_[run.first];
  if (first.text) return ParseText(first, at, end, texts[first.field]);
  const auto parse = [&]<typename T>(T* out) { return ParseRun(run, out + first.index, at, end); };
  std::byte* const out = fields[first.field];
  switch (first.dtype) {
    case DType::kUInt8: return parse(reinterpret_cast<uint8_t*>(out));
    case DType::kInt32: return parse(reinterpret_cast<int32_t*>(out));
    case DType::kInt64: return parse(reinterpret_cast<int64_t*>(out));
    case DType::kFloat32: return parse(reinterpret_cast<float*>(out));
    case DType::kFloat64: return parse(reinterpret_cast<double*>(out));
    default: return Internal("csv: columns of {} are not read", DTypeName(first.dtype));
  }
}

template <typename T>
Status CsvRowParser::ParseRun(const Run& run, T* out, const char*& at, const char* end) const {
  const char delimiter = dialect_.delimiter;
  const bool plain = !number_is_missing_;
  for (int64_t i = 0; i < run.count; ++i) {
    if (plain && ReadPlainNumber(at, end, delimiter, out[i])) continue;
    STOKER_RETURN_IF_ERROR(
        ParseSlowly(wanted_[run.first + static_cast<size_t>(i)], at, end, out[i]));
  }
  return OkStatus();
}

template <typename T>
Status CsvRowParser::ParseSlowly(const CsvColumn& column, const char*& at, const char* end,
                                 T& out) const {
  if (at > end) {
    return DataLoss("the row ends before column {} ('{}'), rows have {} cells; correct the row",
                    column.column, column.name, columns_);
  }
  std::string scratch;
  Result<std::string_view> cell = TakeCell(dialect_, at, end, scratch);
  if (!cell.ok()) return InColumn(column, cell.status());
  std::string_view text = TrimmedCsvCell(*cell);
  if (IsMissingCsvCell(text, missing_)) {
    if (!column.has_default) {
      return InColumn(column,
                      DataLoss("{}; fill it, or give the field a default",
                               text.empty() ? "the cell is empty"
                                            : fmt::format("'{}' is a missing value", text)));
    }
    text = column.default_text;
  }
  const NumberFault fault = ReadNumber(text, out);
  if (fault == NumberFault::kNone) return OkStatus();
  if (std::is_floating_point_v<T> && fault == NumberFault::kTooLarge) {
    return InColumn(column,
                    DataLoss("'{}' is too large for {}; correct it, or set the field's type",
                             Shown(text), DTypeName(DTypeOf<T>())));
  }
  const std::string_view mark = IsMissingCsvCell(text, UsualMissingMarks())
                                    ? ", where it means a missing value name it in "
                                      "`na_values` and give the field a default"
                                    : "";
  return InColumn(column, DataLoss("'{}' is not {}{}; correct it, or set the field's type{}",
                                   Shown(text), kKind<T>, RangeOf<T>(), mark));
}

Status CsvRowParser::ParseText(const CsvColumn& column, const char*& at, const char* end,
                               std::string& out) const {
  if (at > end) {
    return DataLoss("the row ends before column {} ('{}'), rows have {} cells; correct the row",
                    column.column, column.name, columns_);
  }
  std::string scratch;
  const Result<std::string_view> cell = TakeCell(dialect_, at, end, scratch);
  if (!cell.ok()) return InColumn(column, cell.status());
  // Without a default the default text is empty, as a missing text is.
  out.assign(IsMissingCsvCell(*cell, missing_) ? std::string_view(column.default_text) : *cell);
  return OkStatus();
}

Status CsvRowParser::SkipCells(int64_t from, int64_t count, const char*& at,
                               const char* end) const {
  std::string scratch;
  for (int64_t i = 0; i < count; ++i) {
    if (at > end)
      return DataLoss("the row has {} cells, {} are wanted; correct the row", from + i, columns_);
    const Result<std::string_view> cell = TakeCell(dialect_, at, end, scratch);
    if (!cell.ok()) {
      return Status(cell.status().code(),
                    fmt::format("column {}: {}", from + i, cell.status().message()));
    }
  }
  return OkStatus();
}

Status CsvRowParser::WrongCount(std::string_view row) const {
  // Counted, not split: a row of nothing but delimiters has millions.
  std::string scratch;
  int64_t count = 0;
  const char* const end = row.data() + row.size();
  for (const char* at = row.data(); at <= end; ++count) {
    const Result<std::string_view> cell = TakeCell(dialect_, at, end, scratch);
    if (!cell.ok()) {
      return Status(cell.status().code(),
                    fmt::format("column {}: {}", count, cell.status().message()));
    }
  }
  return DataLoss("the row has {} cells, {} are wanted; correct the row, or quote its delimiters",
                  count, columns_);
}

}  // namespace stoker
