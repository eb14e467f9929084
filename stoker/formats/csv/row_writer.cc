#include "stoker/formats/csv/row_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

namespace stoker {
namespace {

template <typename T>
void Append(T number, std::string& row) {
  if constexpr (std::is_floating_point_v<T>) {
    // Whatever its sign and bits, which text does not have.
    if (std::isnan(number)) {
      row += "nan";
      return;
    }
  }
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  row.append(text.data(), end);
}

}  // namespace

Result<CsvRowWriter> CsvRowWriter::Create(std::string path, const CsvDialect& dialect,
                                          Compression compression) {
  if (dialect.quote == 0)
    return InvalidArgument("{}: without a quote not every text can be written; set one", path);
  STOKER_ASSIGN_OR_RETURN(CompressedFileWriter file,
                          CompressedFileWriter::Create(std::move(path), compression));
  return CsvRowWriter(std::move(file), dialect);
}

void CsvRowWriter::BeginCell() {
  if (cells_++ > 0) row_ += dialect_.delimiter;
}

bool CsvRowWriter::MustBeQuoted(std::string_view cell) const {
  // A row of one empty cell would be no row, and the byte order mark's first byte no part of it.
  if (row_.empty() && (cell.empty() || cell.front() == '\xef')) return true;
  if (row_.empty() && dialect_.comment != 0 && cell.front() == dialect_.comment) return true;
  const char special[] = {dialect_.delimiter, dialect_.quote, '\n', '\r'};
  return cell.find_first_of(std::string_view(special, sizeof(special))) != cell.npos;
}

void CsvRowWriter::AddText(std::string_view cell) {
  BeginCell();
  if (!MustBeQuoted(cell)) {
    row_ += cell;
    return;
  }
  row_ += dialect_.quote;
  for (const char c : cell) {
    if (c == dialect_.quote) row_ += c;
    row_ += c;
  }
  row_ += dialect_.quote;
}

void CsvRowWriter::AddNumber(int64_t number) {
  BeginCell();
  Append(number, row_);
}
void CsvRowWriter::AddNumber(float number) {
  BeginCell();
  Append(number, row_);
}
void CsvRowWriter::AddNumber(double number) {
  BeginCell();
  Append(number, row_);
}

Status CsvRowWriter::EndRow() {
  if (columns_ < 0) columns_ = cells_;
  if (cells_ == 0 || cells_ != columns_) {
    return InvalidArgument("row {} has {} cells, the first has {}; give every row as many", rows_,
                           cells_, columns_);
  }
  row_ += '\n';
  const Status status = file_.Append(row_);
  row_.clear();
  cells_ = 0;
  ++rows_;
  return status;
}

Status CsvRowWriter::Commit() { return file_.Commit(); }

}  // namespace stoker
