#include "stoker/data/sources/jsonl.h"

#include <optional>
#include <utility>

#include "stoker/data/sources/text_rows_internal.h"
#include "stoker/formats/jsonl/json_guess.h"

namespace stoker {
namespace {

constexpr int64_t kGuessedFrom = 100;           // lines
constexpr CsvDialect kLines = {.quote = '\0'};  // a row is a line

class JsonlRows final : public RowParser {
 public:
  explicit JsonlRows(JsonRowParser parser) : parser_(std::move(parser)) {}
  Status Parse(std::string_view row, std::span<std::byte* const> memory,
               std::span<std::string> loose) const override {
    return parser_.Parse(row, memory, loose);
  }

 private:
  const JsonRowParser parser_;
};

Result<JsonlFields> GuessFields(const std::string& path, int64_t max_bytes) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  CsvRowReader reader(std::move(source), kLines, max_bytes);
  JsonGuess guess;
  std::string unread;  // what is wrong with the first line that cannot be read
  for (int64_t line = 0; line < kGuessedFrom; ++line) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<CsvRow> row, reader.Next());
    if (!row && line == 0) {
      return DataLoss("{}: the file has no lines, so its fields are not known; check the path",
                      path);
    }
    if (!row) break;
    // What is no object is an error when it is read.
    const Status added = guess.Add(row->text);
    if (added.code() == StatusCode::kUnimplemented) {
      return Unimplemented("{}: record {} (byte {}): {} (`fields`)", path, row->number, row->offset,
                           added.message());
    }
    if (!added.ok() && unread.empty())
      unread = fmt::format("; record {} ({}byte {}): {}", row->number,
                           CsvLinesText(row->line, row->text), row->offset, added.message());
  }
  JsonlFields fields = FieldsOf(guess.Members());
  if (!fields.empty()) return fields;
  return DataLoss(
      "{}: there is no JSON object with members among the first lines, so the fields are not "
      "known; check the path, or name them{}",
      path, unread);
}

}  // namespace

void Jsonl::Describe(OptionTable<Jsonl>& table) {
  table
      .Field("index", &Jsonl::index,
             "where plain files' lines are: stored beside each file, found anew in memory at each "
             "start, or none: read in order",
             OneOf{{"stored", "memory", "none"}})
      .Field("max_bytes", &Jsonl::max_bytes, "the longest line that is taken",
             Between(1, kMostRowBytes));
}

template <>
const std::vector<Option>& OptionsOf<Jsonl>() {
  static const auto options = WithObjects<Jsonl>(
      {ObjectOption("files", &Jsonl::files, "which: 'train-*.jsonl', or a list", /*required=*/true),
       ObjectOption("fields", &Jsonl::fields,
                    "what to take: {label: int64, box: {path: a.box, shape: [4]}}; empty: every "
                    "member")});
  return options;
}

Result<Dataset> Jsonl::Build() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  JsonlFields wanted = fields;
  if (wanted.empty()) {
    STOKER_ASSIGN_OR_RETURN(wanted, GuessFields(paths.front(), max_bytes));
  }
  STOKER_ASSIGN_OR_RETURN(JsonlPlan plan, PlanJsonlFields(kName, wanted));
  Result<JsonRowParser> parser = JsonRowParser::Make(std::move(plan.members));
  if (!parser.ok())
    return Status(parser.status().code(), fmt::format("jsonl: {}", parser.status().message()));
  return TextRowsDataset({.name = kName,
                          .files = files.ToString(),
                          .paths = std::move(paths),
                          .dialect = kLines,
                          .max_bytes = max_bytes,
                          .index = index,
                          .spec = std::move(plan.spec),
                          .parser = std::make_shared<JsonlRows>(*std::move(parser))});
}

}  // namespace stoker
