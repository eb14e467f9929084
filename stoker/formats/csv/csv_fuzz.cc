// Any text splits into the same rows however it arrives, and cells are read or are an error.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "stoker/formats/csv/row_parser.h"
#include "stoker/formats/csv/row_reader.h"

namespace {

using namespace stoker;

// The rows up to the end or the first error.
std::vector<std::string> RowsOf(std::string_view text, const CsvDialect& dialect) {
  CsvRowReader reader(MakeMemorySource(std::as_bytes(std::span(text)), "input"), dialect, 1 << 20);
  std::vector<std::string> rows;
  while (true) {
    const Result<std::optional<CsvRow>> row = reader.Next();
    if (!row.ok() || !*row) return rows;
    // Where it says it begins, the row can be found again.
    const std::string_view there = FirstCsvRow(text.substr((*row)->offset), dialect);
    if (there != (*row)->text) std::abort();
    rows.emplace_back((*row)->text);
  }
}

void Check(const std::string& row, const CsvDialect& dialect) {
  const Result<std::vector<std::string>> cells = SplitCsvRow(row, dialect);
  const CsvColumn text{.column = 0, .text = true, .field = 0};
  const CsvColumn number{
      .column = 1, .dtype = DType::kFloat32, .field = 1, .has_default = true, .default_text = "1"};
  const int64_t columns = cells.ok() ? std::ssize(*cells) : 3;
  if (columns < 2) return;
  const Result<CsvRowParser> parser =
      CsvRowParser::Make(dialect, columns, {text, number}, {"NA", "7"});
  if (!parser.ok()) std::abort();
  float value = 0;
  std::byte* const memory[2] = {nullptr, reinterpret_cast<std::byte*>(&value)};
  std::vector<std::string> texts(2);
  const Status status = parser->Parse(row, memory, texts);
  if (!status.ok()) return;
  if (!cells.ok()) std::abort();
  const bool missing = IsMissingCsvCell(cells->front(), {"NA", "7"});
  if (texts[0] != (missing ? "" : cells->front())) std::abort();
  if (IsMissingCsvCell(TrimmedCsvCell((*cells)[1]), {"NA", "7"}) && value != 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const CsvDialect dialect{.delimiter = data[0] & 1 ? ',' : '\t',
                           .quote = data[0] & 2 ? '"' : '\0',
                           .comment = data[0] & 4 ? '#' : '\0'};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const std::string& row : RowsOf(text, dialect)) Check(row, dialect);
  return 0;
}
