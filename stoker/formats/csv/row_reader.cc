#include "stoker/formats/csv/row_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stoker {
namespace {

constexpr size_t kWindowBytes = 256 << 10;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Goes on looking for the line end that ends a row: `at` has been looked at up to there, and an odd
// number of quotes was found where `inside`. npos where `text` does not have it.
size_t FindRowEnd(std::string_view text, char quote, size_t& at, bool& inside) {
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (quote != 0) {
      for (size_t q = text.find(quote, at); q < end; q = text.find(quote, q + 1)) inside = !inside;
    }
    if (end == text.size()) {
      at = end;
      break;
    }
    if (!inside) return end;
    at = end + 1;
  }
  return text.npos;
}

size_t WithoutCr(std::string_view row) { return row.ends_with('\r') ? row.size() - 1 : row.size(); }

}  // namespace

CsvRowReader::CsvRowReader(std::unique_ptr<ByteSource> source, const CsvDialect& dialect,
                           int64_t max_bytes, int64_t number,
                           std::shared_ptr<MemoryAccount> account)
    : source_(std::move(source)),
      dialect_(dialect),
      max_bytes_(static_cast<size_t>(max_bytes)),
      account_(std::move(account)),
      window_(Buffer::Allocate(kWindowBytes, account_)),
      offset_(source_->position()),
      number_(number) {}

Result<std::optional<CsvRow>> CsvRowReader::Next() {
  if (offset_ == 0) STOKER_RETURN_IF_ERROR(SkipByteOrderMark());
  while (true) {
    if (begin_ == end_) {
      STOKER_ASSIGN_OR_RETURN(const bool more, Refill());
      if (!more) return std::nullopt;
    }
    const bool comment = dialect_.comment != 0 && Held().front() == dialect_.comment;
    size_t with_end = 0;
    STOKER_ASSIGN_OR_RETURN(const size_t length, FindEnd(!comment, with_end));
    if (comment || length == 0) {
      PassOver(with_end);
      continue;
    }
    const CsvRow row{.text = Held().substr(0, length), .offset = offset_, .number = number_++};
    PassOver(with_end);
    return row;
  }
}

Result<size_t> CsvRowReader::FindEnd(bool quotes, size_t& with_end) {
  const char quote = quotes ? dialect_.quote : '\0';
  size_t at = 0;
  bool inside = false;
  while (true) {
    const size_t end = FindRowEnd(Held(), quote, at, inside);
    if (end != std::string_view::npos) {
      with_end = end + 1;
      return WithoutCr(Held().substr(0, end));
    }
    if (Held().size() > max_bytes_) {
      return DataLoss(
          "{}: byte {}: row {} has more than {} bytes{}; raise max_bytes, or check whether this is "
          "text with line ends",
          source_->name(), offset_, number_, max_bytes_,
          inside ? " and a quote that is not closed by then" : "");
    }
    STOKER_ASSIGN_OR_RETURN(const bool more, Refill());
    if (more) continue;
    if (inside) {
      return DataLoss(
          "{}: byte {}: row {} has a quote that is never closed; close it, or read with quote: "
          "\"\"",
          source_->name(), offset_, number_);
    }
    with_end = Held().size();
    return WithoutCr(Held());
  }
}

Result<bool> CsvRowReader::Refill() {
  const size_t held = end_ - begin_;
  if (begin_ > 0 && held > 0) std::memmove(window_.data(), window_.data() + begin_, held);
  begin_ = 0;
  end_ = held;
  if (end_ == window_.size()) {
    Buffer larger = Buffer::Allocate(2 * window_.size(), account_);
    std::memcpy(larger.data(), window_.data(), held);
    window_ = std::move(larger);
  }
  STOKER_ASSIGN_OR_RETURN(const size_t got,
                          source_->Read({window_.data() + end_, window_.size() - end_}));
  end_ += got;
  return got > 0;
}

void CsvRowReader::PassOver(size_t bytes) {
  begin_ += bytes;
  offset_ += bytes;
}

Status CsvRowReader::SkipByteOrderMark() {
  while (Held().size() < kByteOrderMark.size()) {
    STOKER_ASSIGN_OR_RETURN(const bool more, Refill());
    if (!more) break;
  }
  if (Held().starts_with(kByteOrderMark)) PassOver(kByteOrderMark.size());
  return OkStatus();
}

std::string_view FirstCsvRow(std::string_view text, const CsvDialect& dialect) {
  size_t at = 0;
  bool inside = false;
  const size_t end = FindRowEnd(text, dialect.quote, at, inside);
  text = text.substr(0, end);
  return text.substr(0, WithoutCr(text));
}

Result<std::vector<uint64_t>> ScanCsvRows(const std::string& path, const CsvDialect& dialect,
                                          int64_t first, int64_t max_bytes) {
  STOKER_ASSIGN_OR_RETURN(File file, File::Open(path));
  CsvRowReader reader(MakeFileSource(std::move(file)), dialect, max_bytes);
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
