#include "stoker/formats/text/line_reader.h"

#include <algorithm>
#include <utility>

namespace stoker {
namespace {

constexpr size_t kMaxEnd = 2;  // CR LF

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source, int64_t max_bytes, int64_t number,
                       std::shared_ptr<MemoryAccount> account, size_t window_bytes)
    : max_bytes_(static_cast<size_t>(max_bytes)),
      window_(std::move(source), window_bytes, std::move(account)),
      number_(number) {}

size_t LineReader::MostBytes() const { return std::max(kWindowBytes, max_bytes_ + kMaxEnd); }

Result<std::optional<Line>> LineReader::Next() {
  size_t searched = 0;
  while (true) {
    const std::string_view held = window_.text();
    const size_t end = held.find('\n', searched);
    if (end != std::string_view::npos) {
      const size_t length = LengthWithoutCr(held.substr(0, end));
      if (length > max_bytes_) return PassOver();
      return Take(length, end + 1);
    }
    if (held.size() >= max_bytes_ + kMaxEnd) return PassOver();
    searched = held.size();
    STOKER_ASSIGN_OR_RETURN(const bool more, window_.Refill(MostBytes()));
    if (more) continue;
    if (window_.text().empty()) return std::nullopt;
    const size_t length = window_.text().size();  // the last line, without an end
    if (length > max_bytes_) return PassOver();
    return Take(length, length);
  }
}

Line LineReader::Take(size_t length, size_t with_end) {
  const Line line{.text = window_.text().substr(0, length),
                  .offset = window_.offset(),
                  .number = number_++,
                  .length = length};
  window_.PassOver(with_end);
  return line;
}

Result<std::optional<Line>> LineReader::PassOver() {
  Line line{.offset = window_.offset(), .number = number_, .too_long = true};
  bool ends_with_cr = false;
  while (true) {
    const std::string_view held = window_.text();
    const size_t part = std::min(held.find('\n'), held.size());
    line.length += part;
    if (part > 0) ends_with_cr = held[part - 1] == '\r';
    window_.PassOver(part);
    if (part < held.size()) break;
    STOKER_ASSIGN_OR_RETURN(const bool more, window_.Refill(MostBytes()));
    if (!more) break;
  }
  const bool has_end = !window_.held().empty();
  window_.PassOver(has_end ? 1 : 0);
  line.length -= has_end && ends_with_cr ? 1 : 0;
  ++number_;
  return line;
}

}  // namespace stoker
