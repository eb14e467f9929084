#include "stoker/data/sources/text_rows_internal.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "stoker/data/core/failure.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/row_arrays.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/sources/files_in_order_internal.h"
#include "stoker/data/sources/indexed_files_internal.h"
#include "stoker/formats/csv/row_parser.h"
#include "stoker/formats/text/line_numbers.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

std::string_view TextOf(const Buffer& buffer, uint64_t bytes) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(bytes)};
}

// That `row`, the first of a file, is the header that all have.
Status CheckHeader(const TextRows& rows, const std::string& path, std::string_view row) {
  const Result<std::vector<std::string>> cells = SplitCsvRow(row, rows.dialect);
  if (!cells.ok()) {
    return Status(cells.status().code(),
                  fmt::format("{}: row 0: {}", path, cells.status().message()));
  }
  const auto [here, there] = std::ranges::mismatch(*cells, rows.header);
  if (here == cells->end() && there == rows.header.end()) return OkStatus();
  constexpr size_t kShown = 40;
  const auto name = [](auto cell, auto end) {
    return cell == end ? "missing" : fmt::format("'{}'", cell->substr(0, kShown));
  };
  return DataLoss(
      "{}: row 0: it is not the header of {}: column {} is {}, there {}; all files must have the "
      "same columns in the same order under one header: correct the file, or read it as a source "
      "of its own",
      path, rows.paths.front(), here - cells->begin(), name(here, cells->end()),
      name(there, rows.header.end()));
}

// What messages call a row: "a.csv: record 3 (line 5, byte 81)". `record` counts from 0, without
// the header.
std::string NameOfRow(const std::string& path, int64_t record, int64_t line, std::string_view row,
                      uint64_t offset) {
  return fmt::format("{}: record {} ({}byte {})", path, record, CsvLinesText(line, row), offset);
}

// `where` is asked for what messages call the row.
template <typename Where>
Result<Element> ElementOf(const TextRows& rows, std::string_view row, SampleKey key,
                          Scratch& scratch, const Where& where) {
  Result<std::vector<Array>> arrays = ArraysOfRow(rows.spec.fields, *rows.parser, row, scratch);
  if (arrays.ok()) return Element{.key = key, .arrays = *std::move(arrays)};
  return Status(arrays.status().code(), fmt::format("{}: {}", where(), arrays.status().message()));
}

// Plain files, by position.
class RowsNode final : public IndexedFilesNode, public SampleNames {
 public:
  RowsNode(TextRows rows, IndexedFiles records)
      : IndexedFilesNode(rows.name, rows.spec, rows.files, rows.paths, std::move(records)),
        rows_(std::move(rows)),
        fixed_(std::ranges::all_of(rows_.spec.fields,
                                   [](const Field& field) { return IsFullyKnown(field.shape); })) {}

  std::string NameOf(int64_t index, std::string_view /*field*/) const override {
    if (index < 0 || index >= records().size()) return "";
    const IndexedFiles::Place place = records().At(index);
    return NameOfRow(place.file->path(), place.number, lines_.LineAt(*place.file, place.begin),
                     /*row=*/{}, place.begin);
  }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    // The text of one row at a time.
    return AddSizes(count == 1 ? spec().BytesApart(1) : spec().BytesTogether(count),
                    records().MostBytes());
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const IndexedFiles::Place place = records().At(position);
    Scratch scratch = context.scratch(*this);
    STOKER_ASSIGN_OR_RETURN(const Buffer text, records().Read(place, scratch));
    const std::string_view row = FirstCsvRow(TextOf(text, place.bytes()), rows_.dialect);
    return ElementOf(rows_, row, {context.epoch(), position}, scratch,
                     [&] { return Where(place, row, context); });
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    if (!fixed_) return DatasetNode::DoReadRows(positions, context);
    Scratch scratch = context.scratch(*this);
    Rows rows;
    std::vector<std::byte*> memory;
    std::vector<size_t> steps;
    for (const Field& field : spec().fields) {
      rows.columns.push_back(scratch.NewRows(std::ssize(positions), field.dtype, field.shape));
      memory.push_back(rows.columns.back().data());
      steps.push_back(rows.columns.back().num_bytes() / positions.size());
    }
    for (const int64_t position : positions) {
      if (context.stopped()) return AskedToStop(name());
      const IndexedFiles::Place place = records().At(position);
      STOKER_ASSIGN_OR_RETURN(const Buffer text, records().Read(place, scratch));
      const std::string_view row = FirstCsvRow(TextOf(text, place.bytes()), rows_.dialect);
      const Status status = rows_.parser->Parse(row, memory, {});
      if (!status.ok())
        return Status(status.code(),
                      fmt::format("{}: {}", Where(place, row, context), status.message()));
      for (size_t f = 0; f < memory.size(); ++f) memory[f] += steps[f];
      rows.keys.push_back({context.epoch(), position});
    }
    return rows;
  }

 private:
  // The message of a trial is never shown, so no lines are counted for it.
  std::string Where(const IndexedFiles::Place& place, std::string_view row,
                    const ReadContext& context) const {
    const int64_t line = context.trial() ? 0 : lines_.LineAt(*place.file, place.begin);
    return NameOfRow(place.file->path(), place.number, line, row, place.begin);
  }

  const TextRows rows_;
  const bool fixed_;
  const LineNumbers lines_;
};

class RowsStreamNode final : public FilesInOrderNode {
 public:
  explicit RowsStreamNode(TextRows rows)
      : FilesInOrderNode(rows.name, rows.spec, rows.files, rows.paths), rows_(std::move(rows)) {}

  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const TextRows& rows() const { return rows_; }

 private:
  const TextRows rows_;
};

class RowsIterator final : public FilesInOrderIterator {
 public:
  RowsIterator(const OpenContext& context, const RowsStreamNode& node)
      : FilesInOrderIterator(context, node, "rows"), rows_(node.rows()) {}

 private:
  Status OpenFile() override {
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenSource());
    reader_.emplace(std::move(source), rows_.dialect, rows_.max_bytes, next_, account());
    return OkStatus();
  }

  Result<std::optional<Element>> NextInFile() override {
    const bool has_header = !rows_.header.empty();
    while (true) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<CsvRow> row, reader_->Next());
      set_offset(reader_->offset());
      next_ = reader_->start();
      if (!row) return std::nullopt;
      if (row->number == 0 && has_header) {
        STOKER_RETURN_IF_ERROR(CheckHeader(rows_, path(), row->text));
        continue;
      }
      const SampleKey key = NextKey();
      Scratch scratch = NewScratch();
      const auto where = [&] {
        return NameOfRow(path(), row->number - (has_header ? 1 : 0), row->line, row->text,
                         row->offset);
      };
      return HandOut(ElementOf(rows_, row->text, key, scratch, where), key);
    }
  }

  void CloseFile() override {
    reader_.reset();
    next_ = {};
  }

  void SaveMore(Json& state) const override {
    state["row"] = next_.number;
    state["line"] = next_.line;
  }
  Status RestoreMore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(next_.number, SavedInteger(state, "row"));
    // States that were saved before lines were counted do not have it.
    next_.line = 0;
    if (state.contains("line")) {
      STOKER_ASSIGN_OR_RETURN(next_.line, SavedInteger(state, "line"));
    }
    return OkStatus();
  }

  const TextRows& rows_;
  CsvRowReader::Start next_;  // row of the file
  std::optional<CsvRowReader> reader_;
};

Result<std::unique_ptr<Iterator>> RowsStreamNode::OpenStream(const OpenContext& context) const {
  return std::make_unique<RowsIterator>(context, *this);
}

// All that decides where rows begin, and the header, so that each file's has been looked at with
// the index that was made of it.
uint64_t SettingsOf(const TextRows& rows) {
  uint32_t names = 0;
  for (const std::string& name : rows.header) names = Crc32c(name, Crc32c(",", names));
  const uint64_t settings = static_cast<uint64_t>(static_cast<uint8_t>(rows.dialect.quote)) |
                            static_cast<uint64_t>(static_cast<uint8_t>(rows.dialect.comment)) << 8 |
                            static_cast<uint64_t>(!rows.header.empty()) << 16 |
                            static_cast<uint64_t>(rows.max_bytes) << 17;
  return settings ^ static_cast<uint64_t>(names) << 32;
}

}  // namespace

Result<Dataset> TextRowsDataset(TextRows rows) {
  STOKER_ASSIGN_OR_RETURN(const bool plain, AllArePlain(rows.paths, rows.index == "memory"));
  if (!plain || rows.index == "none")
    return Dataset(std::make_shared<RowsStreamNode>(std::move(rows)));
  const auto scan = [&](const File& file) -> Result<std::vector<uint64_t>> {
    if (rows.header.empty()) return ScanCsvRows(file, rows.dialect, 0, rows.max_bytes);
    CsvRowReader reader(MakeBorrowedSource(file), rows.dialect, rows.max_bytes);
    STOKER_ASSIGN_OR_RETURN(const std::optional<CsvRow> first, reader.Next());
    if (first) STOKER_RETURN_IF_ERROR(CheckHeader(rows, file.path(), first->text));
    return ScanCsvRows(file, rows.dialect, 1, rows.max_bytes);
  };
  STOKER_ASSIGN_OR_RETURN(
      IndexedFiles indexed,
      IndexedFiles::Open(rows.paths, rows.name, SettingsOf(rows),
                         rows.index == "stored" ? IndexUse::kStored : IndexUse::kMemory, scan));
  return Dataset(std::make_shared<RowsNode>(std::move(rows), std::move(indexed)));
}

}  // namespace stoker
