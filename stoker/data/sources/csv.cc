#include "stoker/data/sources/csv.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "stoker/base/problems.h"
#include "stoker/data/sources/text_rows_internal.h"
#include "stoker/formats/probe/file_kind.h"

namespace stoker {
namespace {

constexpr size_t kGuessedFrom = 100;  // rows
// Where rows are long, columns are guessed from fewer: once so many bytes have been read, no more
// rows are, but always the header and one row.
constexpr size_t kGuessedFromBytes = 8 << 20;
constexpr size_t kGuessedFromCells = 1 << 20;  // likewise, of rows after the first

class CsvRows final : public RowParser {
 public:
  explicit CsvRows(CsvRowParser parser) : parser_(std::move(parser)) {}
  Status Parse(std::string_view row, std::span<std::byte* const> memory,
               std::span<std::string> loose) const override {
    return parser_.Parse(row, memory, loose);
  }

 private:
  const CsvRowParser parser_;
};

// The one character of an option, or 0.
Result<char> CharacterOf(std::string_view option, const std::string& text) {
  if (text.empty()) return '\0';
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() == 1 && text != "\n" && text != "\r") return text.front();
  return InvalidArgument("csv: {} is '{}'; it must be one character, or tab", option, text);
}

Result<CsvDialect> DialectOf(const Csv& csv, const std::string& path) {
  CsvDialect dialect;
  const bool tsv = path.find(".tsv") != path.npos || path.find(".tab") != path.npos;
  STOKER_ASSIGN_OR_RETURN(dialect.delimiter, csv.delimiter == "auto"
                                                 ? Result<char>(tsv ? '\t' : ',')
                                                 : CharacterOf("delimiter", csv.delimiter));
  STOKER_ASSIGN_OR_RETURN(dialect.quote, CharacterOf("quote", csv.quote));
  STOKER_ASSIGN_OR_RETURN(dialect.comment, CharacterOf("comment", csv.comment));
  if (dialect.delimiter == '\0' || dialect.delimiter == dialect.quote)
    return InvalidArgument("csv: delimiter '{}' and quote '{}' must be two characters",
                           csv.delimiter, csv.quote);
  return dialect;
}

// Errors: kDataLoss if a file that begins so is plainly of another kind. Text and what is not
// known may be CSV.
Status CheckMayBeCsv(const std::string& path, std::string_view start) {
  const auto prefix = std::as_bytes(std::span(start.substr(0, kProbeBytes)));
  switch (ProbeFile(prefix)) {
    case FileKind::kUnknown:
    case FileKind::kEmpty:
    case FileKind::kText:
    case FileKind::kJson: return OkStatus();
    default:
      return DataLoss("{}: this is {}, no CSV; unpack it, or name the file that holds the rows",
                      path, DescribeStart(prefix));
  }
}

// The first rows of a file, the header among them, as far as they are looked at to tell columns.
Result<std::vector<std::string>> FirstRows(const Csv& csv, const std::string& path,
                                           const CsvDialect& dialect) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  CsvRowReader reader(std::move(source), dialect, csv.max_bytes);
  std::vector<std::string> rows;
  size_t held = 0;  // bytes of them
  while (rows.size() <= kGuessedFrom && (rows.size() < 2 || held < kGuessedFromBytes)) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<CsvRow> row, reader.Next());
    if (!row) break;
    held += row->text.size();
    rows.emplace_back(row->text);
  }
  if (rows.empty())
    return DataLoss("{}: the file has no rows, so its columns are not known; check the path", path);
  STOKER_RETURN_IF_ERROR(CheckMayBeCsv(path, rows.front()));
  return rows;
}

// How many cells each of the rows has under this delimiter; 0 if they do not agree.
size_t ColumnsOf(const std::vector<std::string>& rows, CsvDialect dialect, char delimiter) {
  dialect.delimiter = delimiter;
  size_t columns = 0;
  for (const std::string& row : rows) {
    const Result<std::vector<std::string>> cells = SplitCsvRow(row, dialect);
    if (!cells.ok() || (columns > 0 && cells->size() != columns)) return 0;
    columns = cells->size();
  }
  return columns;
}

// The delimiter that is plainly the file's: the one of `dialect`, unless the first row has none and
// another makes several cells of each row.
char DelimiterOf(const std::vector<std::string>& rows, const CsvDialect& dialect) {
  if (rows.front().find(dialect.delimiter) != std::string::npos) return dialect.delimiter;
  for (const char other : {',', ';', '\t', '|'}) {
    if (other != dialect.quote && ColumnsOf(rows, dialect, other) > 1) return other;
  }
  return dialect.delimiter;
}

// What the stage says of a delimiter that was found out.
std::string DelimiterNote(char usual, char found) {
  if (found == usual) return "";
  return fmt::format(", delimiter: {}", found == '\t' ? "tab" : fmt::format("'{}'", found));
}

// Sets the delimiter of `dialect` where it is to be found out.
Result<CsvStart> ReadStart(const Csv& csv, const std::string& path, CsvDialect& dialect) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> rows, FirstRows(csv, path, dialect));
  if (csv.delimiter == "auto") dialect.delimiter = DelimiterOf(rows, dialect);
  Result<std::vector<std::string>> first = SplitCsvRow(rows.front(), dialect);
  if (!first.ok()) {
    return Status(first.status().code(),
                  fmt::format("{}: row 0: {}", path, first.status().message()));
  }
  CsvStart start;
  size_t held = 0;  // cells
  for (size_t row = 1; row < rows.size() && held < kGuessedFromCells; ++row) {
    Result<std::vector<std::string>> cells = SplitCsvRow(rows[row], dialect, first->size());
    if (!cells.ok()) continue;  // reading it says why not
    held += cells->size();
    start.cells.push_back(*std::move(cells));
  }
  if (csv.header == "yes" ||
      (csv.header == "auto" && LooksLikeCsvHeader(*first, start.cells, csv.na_values))) {
    NameCsvColumns(*std::move(first), start);
    return start;
  }
  for (size_t i = 0; i < first->size(); ++i) start.names.push_back(std::to_string(i));
  start.cells.insert(start.cells.begin(), *std::move(first));
  return start;
}

// What the stage says of a column that it has named itself.
std::string UnnamedNote(const CsvStart& start) {
  if (start.name_of_unnamed.empty()) return "";
  return fmt::format(", the first column has no name: {}", start.name_of_unnamed);
}

}  // namespace

void Csv::Describe(OptionTable<Csv>& table) {
  table
      .Field(
          "header", &Csv::header,
          "whether the first row has the names of the columns; auto: where none of its cells is a "
          "number or empty, but for the first, whose column is then called index",
          OneOf{{"auto", "yes", "no"}})
      .Field("delimiter", &Csv::delimiter,
             "between cells, one character or tab; auto: tab for .tsv and .tab, else a comma, and "
             "where the first rows have none the one of , ; tab | that makes columns of them")
      .Field("quote", &Csv::quote, "around cells, one character; empty: none is quoted")
      .Field("comment", &Csv::comment, "lines that begin with this character are left out")
      .Field("na_values", &Csv::na_values,
             "cells that mean a missing value, as empty ones do: [NA, '?']")
      .Field("index", &Csv::index,
             "where plain files' rows are: stored beside each file, found anew in memory at each "
             "start, or none: read in order",
             OneOf{{"stored", "memory", "none"}})
      .Field("max_bytes", &Csv::max_bytes, "the longest row that is taken",
             Between(1, kMostRowBytes));
}

template <>
const std::vector<Option>& OptionsOf<Csv>() {
  static const auto options = WithObjects<Csv>(
      {ObjectOption("files", &Csv::files, "which: 'train-*.csv', or a list", /*required=*/true),
       ObjectOption("fields", &Csv::fields,
                    "what to take: {age: int64, x: {columns: 1-784}}; empty: every column")});
  return options;
}

Result<Dataset> Csv::Build() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  STOKER_ASSIGN_OR_RETURN(CsvDialect dialect, DialectOf(*this, paths.front()));
  const char usual = dialect.delimiter;
  STOKER_ASSIGN_OR_RETURN(const CsvStart start, ReadStart(*this, paths.front(), dialect));
  const auto in_file = [&](const Status& status) {
    return WithPrefix(fmt::format("csv: {}: ", paths.front()), status);
  };
  Result<CsvPlan> plan =
      PlanCsvFields(fields.empty() ? GuessCsvFields(start, na_values) : fields, start.names);
  if (!plan.ok()) return in_file(plan.status());
  Result<CsvRowParser> parser =
      CsvRowParser::Make(dialect, std::ssize(start.names), std::move(plan->columns), na_values);
  if (!parser.ok()) return in_file(parser.status());
  return TextRowsDataset(
      {.name = kName,
       .files = files.ToString() + DelimiterNote(usual, dialect.delimiter) + UnnamedNote(start),
       .paths = std::move(paths),
       .dialect = dialect,
       .header = start.header_cells,
       .max_bytes = max_bytes,
       .index = index,
       .spec = std::move(plan->spec),
       .parser = std::make_shared<CsvRows>(*std::move(parser))});
}

}  // namespace stoker
