#include "stoker/formats/recordio/record_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "stoker/formats/text/line_reader.h"

namespace stoker {
namespace {

constexpr int64_t kMostLineBytes = 64 << 10;
constexpr std::string_view kAdvice =
    "make the index again, or put it elsewhere: without it all records are read, in the order of "
    "the file";

// The number after the last tab of a line, if there is one and nothing else.
std::optional<uint64_t> OffsetIn(std::string_view line) {
  const size_t tab = line.rfind('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  const std::string_view digits = line.substr(tab + 1);
  uint64_t offset = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), offset);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole ? std::optional(offset) : std::nullopt;
}

}  // namespace

std::string FindRecordIoIndex(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path index(path);
  if (index.extension() != ".rec") return "";
  index.replace_extension(".idx");
  return std::filesystem::is_regular_file(index, ignored) ? index.string() : "";
}

Status CheckRecordIoIndex(std::unique_ptr<ByteSource> index, const std::string& records,
                          std::span<const uint64_t> offsets) {
  const std::string name = index->name();
  const auto begins = offsets.first(offsets.size() - 1);
  std::vector<bool> listed(begins.size());
  LineReader lines(std::move(index), kMostLineBytes);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Line> line, lines.Next());
    if (!line) break;
    if (line->text.empty() && !line->too_long) continue;
    const int64_t number = line->number + 1;
    const std::optional<uint64_t> offset = OffsetIn(line->text);
    if (!offset) {
      return DataLoss(
          "{}: line {}: a key, a tab and the byte where a record of {} begins are wanted; {}", name,
          number, records, kAdvice);
    }
    const auto found = std::ranges::lower_bound(begins, *offset);
    if (found == begins.end() || *found != *offset) {
      return DataLoss("{}: line {}: no record of {} begins at byte {}; {}", name, number, records,
                      *offset, kAdvice);
    }
    const auto record = static_cast<size_t>(found - begins.begin());
    if (listed[record]) {
      return DataLoss("{}: line {}: record {} of {} (byte {}) is listed a second time; {}", name,
                      number, record, records, *offset, kAdvice);
    }
    listed[record] = true;
  }
  const auto missing = std::ranges::find(listed, false);
  if (missing == listed.end()) return OkStatus();
  const auto record = static_cast<size_t>(missing - listed.begin());
  return DataLoss("{}: lists {} of the {} records of {}, not record {} (byte {}); {}", name,
                  std::ranges::count(listed, true), listed.size(), records, record, begins[record],
                  kAdvice);
}

Status CheckRecordIoIndexOf(const std::string& path, std::span<const uint64_t> offsets) {
  const std::string index = FindRecordIoIndex(path);
  if (index.empty()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(index));
  return CheckRecordIoIndex(std::move(source), path, offsets);
}

}  // namespace stoker
