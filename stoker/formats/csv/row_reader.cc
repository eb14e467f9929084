#include "stoker/formats/csv/row_reader.h"

#include <algorithm>
#include <utility>

#include "stoker/base/utf8.h"

namespace stoker {
namespace {

constexpr size_t kWindowBytes = 256 << 10;

// Goes on looking for the line end that ends a row: `at` has been looked at up to there, and an odd
// number of quotes was found where `inside`. Adds the lines that it passes to `lines`. npos if
// `text` does not have it.
size_t FindRowEnd(std::string_view text, char quote, size_t& at, bool& inside, int64_t& lines) {
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (quote != 0) {
      const std::string_view line = text.substr(at, end - at);
      for (size_t q = line.find(quote); q != line.npos; q = line.find(quote, q + 1))
        inside = !inside;
    }
    if (end == text.size()) {
      at = end;
      break;
    }
    if (!inside) return end;
    at = end + 1;
    ++lines;
  }
  return text.npos;
}

}  // namespace

CsvRowReader::CsvRowReader(std::unique_ptr<ByteSource> source, const CsvDialect& dialect,
                           int64_t max_bytes, Start start, std::shared_ptr<MemoryAccount> account)
    : dialect_(dialect),
      max_bytes_(static_cast<size_t>(max_bytes)),
      window_(std::move(source), kWindowBytes, std::move(account)),
      next_(start) {}

Result<std::optional<CsvRow>> CsvRowReader::Next() {
  if (window_.offset() == 0) STOKER_RETURN_IF_ERROR(SkipByteOrderMark());
  while (true) {
    if (window_.held().empty()) {
      STOKER_ASSIGN_OR_RETURN(const bool more, window_.Refill());
      if (!more) return std::nullopt;
    }
    const bool comment = dialect_.comment != 0 && window_.text().front() == dialect_.comment;
    STOKER_ASSIGN_OR_RETURN(const Extent extent, FindEnd(!comment));
    if (comment || extent.length == 0) {
      PassOver(extent);
      continue;
    }
    const CsvRow row{.text = window_.text().substr(0, extent.length),
                     .offset = window_.offset(),
                     .number = next_.number++,
                     .line = next_.line};
    PassOver(extent);
    return row;
  }
}

void CsvRowReader::PassOver(const Extent& extent) {
  window_.PassOver(extent.with_end);
  if (next_.line > 0) next_.line += extent.lines;
}

Result<CsvRowReader::Extent> CsvRowReader::FindEnd(bool quotes) {
  const char quote = quotes ? dialect_.quote : '\0';
  size_t at = 0;
  bool inside = false;
  Extent extent;
  while (true) {
    const size_t end = FindRowEnd(window_.text(), quote, at, inside, extent.lines);
    if (end != std::string_view::npos) {
      extent.length = LengthWithoutCr(window_.text().substr(0, end));
      extent.with_end = end + 1;
      return extent;
    }
    if (window_.text().size() > max_bytes_) {
      return DataLoss(
          "{}: {}byte {}: row {} has more than {} bytes{}; raise max_bytes of the source in the "
          "recipe, or check whether this is text with line ends",
          window_.source().name(), CsvLinesText(next_.line, {}), window_.offset(), next_.number,
          max_bytes_, inside ? " and a quote that is not closed by then" : "");
    }
    STOKER_ASSIGN_OR_RETURN(const bool more,
                            window_.Refill(std::max(kWindowBytes, max_bytes_ + 1)));
    if (more) continue;
    if (inside) {
      return DataLoss(
          "{}: {}byte {}: row {} has a quote that is never closed; close it, or read with quote: "
          "\"\"",
          window_.source().name(), CsvLinesText(next_.line, {}), window_.offset(), next_.number);
    }
    extent.length = LengthWithoutCr(window_.text());
    extent.with_end = window_.text().size();
    return extent;
  }
}

Status CsvRowReader::SkipByteOrderMark() {
  STOKER_RETURN_IF_ERROR(window_.Hold(kByteOrderMark.size()).status());
  const std::string_view start = window_.text();
  if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff")) {
    return DataLoss(
        "{}: byte 0: the text is UTF-16, and UTF-8 is read; convert the file: iconv -f UTF-16 -t "
        "UTF-8",
        window_.source().name());
  }
  if (start.starts_with(kByteOrderMark)) window_.PassOver(kByteOrderMark.size());
  return OkStatus();
}

std::string CsvLinesText(int64_t line, std::string_view row) {
  if (line == 0) return "";
  const int64_t more = std::ranges::count(row, '\n');
  return more == 0 ? fmt::format("line {}, ", line)
                   : fmt::format("lines {} to {}, ", line, line + more);
}

std::string_view FirstCsvRow(std::string_view text, const CsvDialect& dialect) {
  size_t at = 0;
  bool inside = false;
  int64_t lines = 1;
  const size_t end = FindRowEnd(text, dialect.quote, at, inside, lines);
  text = text.substr(0, end);
  return text.substr(0, LengthWithoutCr(text));
}

Status CheckLineEnds(std::string_view row, const CsvDialect& dialect) {
  size_t begin = 0;
  bool inside = false;
  for (size_t cr = row.find('\r'); cr != row.npos; cr = row.find('\r', begin)) {
    if (dialect.quote != 0 && std::ranges::count(row.substr(begin, cr - begin), dialect.quote) % 2)
      inside = !inside;
    if (!inside) {
      return DataLoss(
          "byte {} of the row is a CR (0d) that no LF follows; rows end with LF or CR LF: convert "
          "the file (tr '\\r' '\\n'), or quote the cell",
          cr);
    }
    begin = cr + 1;
  }
  return OkStatus();
}

Result<std::vector<uint64_t>> ScanCsvRows(const File& file, const CsvDialect& dialect,
                                          int64_t first, int64_t max_bytes) {
  CsvRowReader reader(MakeBorrowedSource(file), dialect, max_bytes);
  std::vector<uint64_t> offsets;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<CsvRow> row, reader.Next());
    if (!row) break;
    if (row->number >= first) offsets.push_back(row->offset);
  }
  offsets.push_back(reader.offset());
  return offsets;
}

}  // namespace stoker
