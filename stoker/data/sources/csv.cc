#include "stoker/data/sources/csv.h"

#include <optional>
#include <utility>

#include "stoker/data/sources/text_rows_internal.h"

namespace stoker {
namespace {

constexpr double kMostBytes = 1 << 30;
constexpr size_t kGuessedFrom = 100;  // rows

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

Result<CsvStart> ReadStart(const Csv& csv, const std::string& path, const CsvDialect& dialect) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  CsvRowReader reader(std::move(source), dialect, csv.max_bytes);
  CsvStart start;
  while (start.cells.size() < kGuessedFrom) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<CsvRow> row, reader.Next());
    if (!row) break;
    Result<std::vector<std::string>> cells = SplitCsvRow(row->text, dialect);
    if (!cells.ok()) {
      if (row->number > 0) continue;  // whoever reads it will hear of it
      return Status(cells.status().code(),
                    fmt::format("{}: row 0: {}", path, cells.status().message()));
    }
    if (row->number == 0) {
      start.header = csv.header == "yes" || (csv.header == "auto" && LooksLikeCsvHeader(*cells));
      for (size_t i = 0; i < cells->size(); ++i)
        start.names.push_back(start.header ? (*cells)[i] : std::to_string(i));
      if (start.header) continue;
    }
    start.cells.push_back(*std::move(cells));
  }
  if (start.names.empty())
    return DataLoss("{}: the file has no rows, so its columns are not known; check the path", path);
  return start;
}

}  // namespace

void Csv::Describe(OptionTable<Csv>& table) {
  table
      .Field(
          "header", &Csv::header,
          "whether the first row has the names of the columns; auto: where none of its cells is a "
          "number or empty",
          OneOf{{"auto", "yes", "no"}})
      .Field("delimiter", &Csv::delimiter,
             "between cells, one character or tab; auto: tab for .tsv and .tab, else a comma")
      .Field("quote", &Csv::quote, "around cells, one character; empty: none is quoted")
      .Field("comment", &Csv::comment, "lines that begin with this character are left out")
      .Field("index", &Csv::index,
             "where plain files' rows are: stored beside each file, found anew in memory at each "
             "start, or none: read in order",
             OneOf{{"stored", "memory", "none"}})
      .Field("max_bytes", &Csv::max_bytes, "the longest row that is taken", Between(1, kMostBytes));
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
  STOKER_ASSIGN_OR_RETURN(const CsvDialect dialect, DialectOf(*this, paths.front()));
  STOKER_ASSIGN_OR_RETURN(const CsvStart start, ReadStart(*this, paths.front(), dialect));
  const auto in_file = [&](const Status& status) {
    return Status(status.code(), fmt::format("csv: {}: {}", paths.front(), status.message()));
  };
  Result<CsvPlan> plan =
      PlanCsvFields(fields.empty() ? GuessCsvFields(start) : fields, start.names);
  if (!plan.ok()) return in_file(plan.status());
  Result<CsvRowParser> parser =
      CsvRowParser::Make(dialect, std::ssize(start.names), std::move(plan->columns));
  if (!parser.ok()) return in_file(parser.status());
  return TextRowsDataset({.name = kName,
                          .files = files.ToString(),
                          .paths = std::move(paths),
                          .dialect = dialect,
                          .header = start.header ? start.names : std::vector<std::string>(),
                          .max_bytes = max_bytes,
                          .index = index,
                          .spec = std::move(plan->spec),
                          .parser = std::make_shared<CsvRows>(*std::move(parser))});
}

}  // namespace stoker
