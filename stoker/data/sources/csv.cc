#include "stoker/data/sources/csv.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "stoker/data/check_key.h"
#include "stoker/data/failure.h"
#include "stoker/data/iterator.h"
#include "stoker/data/runtime.h"
#include "stoker/data/saved_unsigned.h"
#include "stoker/data/sources/indexed_files_internal.h"

namespace stoker {
namespace {

constexpr double kMostBytes = 1 << 30;
constexpr size_t kGuessedFrom = 100;  // rows

// What both ways of reading share: where each row's values go.
class RowsToFields {
 public:
  RowsToFields(CsvRowParser parser, const Spec& spec, std::string files)
      : parser_(std::move(parser)), spec_(spec), files_(std::move(files)) {
    for (const Field& field : spec_.fields) fixed_ = fixed_ && IsFullyKnown(field.shape);
  }

  const Spec& spec() const { return spec_; }
  const std::string& files() const { return files_; }
  bool fixed() const { return fixed_; }
  const CsvRowParser& parser() const { return parser_; }

  // `where` is asked for what messages call the row.
  template <typename Where>
  Result<Element> ElementOf(std::string_view row, SampleKey key, Scratch& scratch,
                            const Where& where) const {
    Element element{.key = key, .arrays = {}};
    std::vector<std::byte*> memory;
    for (const Field& field : spec_.fields) {
      const bool known = IsFullyKnown(field.shape);
      element.arrays.push_back(known ? scratch.NewArray(field.dtype, field.shape) : Array());
      memory.push_back(element.arrays.back().data());
    }
    std::vector<std::string> texts(spec_.fields.size());
    const Status status = parser_.Parse(row, memory, texts);
    if (!status.ok())
      return Status(status.code(), fmt::format("{}: {}", where(), status.message()));
    for (size_t f = 0; f < texts.size(); ++f) {
      if (IsFullyKnown(spec_.fields[f].shape)) continue;
      Array text = scratch.NewArray(DType::kUInt8, {std::ssize(texts[f])});
      if (!texts[f].empty()) std::memcpy(text.data(), texts[f].data(), texts[f].size());
      element.arrays[f] = std::move(text);
    }
    return element;
  }

 private:
  const CsvRowParser parser_;
  const Spec spec_;
  const std::string files_;
  bool fixed_ = true;
};

std::string_view TextOf(const Buffer& buffer, uint64_t bytes) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(bytes)};
}

// Plain files, by position.
class IndexedNode final : public DatasetNode {
 public:
  IndexedNode(RowsToFields rows, const CsvDialect& dialect, std::vector<std::string> paths,
              IndexedFiles files)
      : DatasetNode(std::string(Csv::kName), rows.spec(), Cardinality::Of(files.size()), {}),
        rows_(std::move(rows)),
        dialect_(dialect),
        paths_(std::move(paths)),
        files_(std::move(files)) {}

  std::string Details() const override { return rows_.files(); }
  std::vector<std::string> files() const override { return paths_; }
  std::string_view Disturbs() const override { return ""; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    // The text of one row at a time.
    return AddSizes(count == 1 ? spec().BytesApart(1) : spec().BytesTogether(count),
                    files_.MostBytes());
  }
  bool fixed_order() const override { return true; }
  bool random_access() const override { return true; }
  bool rereadable() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("csv: is read by position");
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const IndexedFiles::Place place = files_.At(position);
    Scratch scratch = context.scratch(*this);
    STOKER_ASSIGN_OR_RETURN(const Buffer text, files_.Read(place, scratch));
    return rows_.ElementOf(FirstCsvRow(TextOf(text, place.bytes()), dialect_),
                           {context.epoch(), position}, scratch, [&] { return place.ToString(); });
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
    return DoRead(key.index, context.WithEpoch(key.epoch));
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    if (!rows_.fixed()) return DatasetNode::DoReadRows(positions, context);
    Scratch scratch = context.scratch(*this);
    Rows rows;
    std::vector<std::byte*> memory;
    std::vector<size_t> steps;
    for (const Field& field : spec().fields) {
      Shape shape = field.shape;
      shape.insert(shape.begin(), std::ssize(positions));
      rows.columns.push_back(scratch.NewArray(field.dtype, std::move(shape)));
      memory.push_back(rows.columns.back().data());
      steps.push_back(rows.columns.back().num_bytes() / positions.size());
    }
    for (const int64_t position : positions) {
      if (context.stopped()) return AskedToStop(name());
      const IndexedFiles::Place place = files_.At(position);
      STOKER_ASSIGN_OR_RETURN(const Buffer text, files_.Read(place, scratch));
      const Status status =
          rows_.parser().Parse(FirstCsvRow(TextOf(text, place.bytes()), dialect_), memory, {});
      if (!status.ok())
        return Status(status.code(), fmt::format("{}: {}", place.ToString(), status.message()));
      for (size_t f = 0; f < memory.size(); ++f) memory[f] += steps[f];
      rows.keys.push_back({context.epoch(), position});
    }
    return rows;
  }

 private:
  const RowsToFields rows_;
  const CsvDialect dialect_;
  const std::vector<std::string> paths_;
  const IndexedFiles files_;
};

class StreamNode final : public DatasetNode {
 public:
  StreamNode(RowsToFields rows, const CsvDialect& dialect, std::vector<std::string> paths,
             bool header, int64_t max_bytes)
      : DatasetNode(std::string(Csv::kName), rows.spec(), Cardinality::Unknown(), {}),
        rows_(std::move(rows)),
        dialect_(dialect),
        paths_(std::move(paths)),
        header_(header),
        max_bytes_(max_bytes) {}

  std::string Details() const override { return rows_.files() + ", in order"; }
  std::vector<std::string> files() const override { return paths_; }
  std::string_view Disturbs() const override { return ""; }
  bool tolerates_errors() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const RowsToFields& rows() const { return rows_; }
  const CsvDialect& dialect() const { return dialect_; }
  const std::vector<std::string>& paths() const { return paths_; }
  bool header() const { return header_; }
  int64_t max_bytes() const { return max_bytes_; }

 private:
  const RowsToFields rows_;
  const CsvDialect dialect_;
  const std::vector<std::string> paths_;
  const bool header_;
  const int64_t max_bytes_;
};

class StreamIterator final : public Iterator {
 public:
  StreamIterator(const OpenContext& context, const StreamNode& node)
      : Iterator(context, node),
        node_(node),
        tolerant_(context.tolerant()),
        epoch_(context.epoch()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    while (file_ < node_.paths().size()) {
      STOKER_RETURN_IF_ERROR(CheckStop());
      if (!reader_) STOKER_RETURN_IF_ERROR(OpenReader());
      STOKER_ASSIGN_OR_RETURN(const std::optional<CsvRow> row, reader_->Next());
      offset_ = reader_->offset();
      number_ = reader_->number();
      if (row && row->number == 0 && node_.header()) continue;
      if (row) return ElementOf(*row);
      ++file_;
      reader_.reset();
      offset_ = 0;
      number_ = 0;
    }
    return std::nullopt;
  }

  Result<std::optional<Element>> ElementOf(const CsvRow& row) {
    const SampleKey key{epoch_, rows_++};
    Scratch scratch(pass().stage(node_).pool);
    Result<Element> element = node_.rows().ElementOf(row.text, key, scratch, [&] {
      return fmt::format("{}: record {} (byte {})", node_.paths()[file_],
                         row.number - (node_.header() ? 1 : 0), row.offset);
    });
    if (element.ok()) return *std::move(element);
    if (!tolerant_) return element.status();
    return FailedElement(element.status(), {node_.name(), key});
  }

  Status OpenReader() {
    const auto stop = [this] { return !CheckStop().ok(); };
    const std::shared_ptr<MemoryAccount>& account = pass().stage(node_).account;
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source,
                            OpenByteSourceAt(node_.paths()[file_], offset_, account, stop));
    reader_.emplace(std::move(source), node_.dialect(), node_.max_bytes(), number_, account);
    return OkStatus();
  }

  Result<Json> DoSave() const override {
    return Json{
        {"epoch", epoch_}, {"file", file_}, {"byte", offset_}, {"row", number_}, {"rows", rows_}};
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(const int64_t file, SavedInteger(state, "file"));
    STOKER_ASSIGN_OR_RETURN(const int64_t offset, SavedInteger(state, "byte"));
    STOKER_ASSIGN_OR_RETURN(number_, SavedInteger(state, "row"));
    STOKER_ASSIGN_OR_RETURN(rows_, SavedInteger(state, "rows"));
    file_ = static_cast<size_t>(file);
    offset_ = static_cast<uint64_t>(offset);
    return OkStatus();
  }

  const StreamNode& node_;
  const bool tolerant_;
  uint64_t epoch_;
  size_t file_ = 0;
  // Of the next row of that file: where it begins, and its number.
  uint64_t offset_ = 0;
  int64_t number_ = 0;
  int64_t rows_ = 0;  // of all files, handed out or failed
  std::optional<CsvRowReader> reader_;
};

Result<std::unique_ptr<Iterator>> StreamNode::OpenStream(const OpenContext& context) const {
  return std::make_unique<StreamIterator>(context, *this);
}

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

// All that decides where rows begin.
uint64_t SettingsOf(const CsvDialect& dialect, bool header, int64_t max_bytes) {
  return static_cast<uint64_t>(static_cast<uint8_t>(dialect.quote)) |
         static_cast<uint64_t>(static_cast<uint8_t>(dialect.comment)) << 8 |
         static_cast<uint64_t>(header) << 16 | static_cast<uint64_t>(max_bytes) << 17;
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
  STOKER_ASSIGN_OR_RETURN(
      CsvPlan plan, PlanCsvFields(fields.empty() ? GuessCsvFields(start) : fields, start.names));
  Result<CsvRowParser> parser =
      CsvRowParser::Make(dialect, std::ssize(start.names), std::move(plan.columns));
  if (!parser.ok())
    return Status(parser.status().code(),
                  fmt::format("csv: {}: {}", paths.front(), parser.status().message()));
  RowsToFields rows(*std::move(parser), plan.spec, files.ToString());
  STOKER_ASSIGN_OR_RETURN(const bool plain, AllArePlain(paths));
  if (!plain || index == "none") {
    return Dataset(std::make_shared<StreamNode>(std::move(rows), dialect, std::move(paths),
                                                start.header, max_bytes));
  }
  const int64_t first = start.header ? 1 : 0;
  STOKER_ASSIGN_OR_RETURN(
      IndexedFiles indexed,
      IndexedFiles::Open(
          paths, kName, SettingsOf(dialect, start.header, max_bytes),
          index == "stored" ? IndexUse::kStored : IndexUse::kMemory,
          [&](const File& file) { return ScanCsvRows(file.path(), dialect, first, max_bytes); }));
  return Dataset(std::make_shared<IndexedNode>(std::move(rows), dialect, std::move(paths),
                                               std::move(indexed)));
}

}  // namespace stoker
