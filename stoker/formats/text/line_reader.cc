#include "stoker/formats/text/line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stoker {
namespace {

constexpr size_t kMaxEnd = 2;  // CR LF

size_t WithoutCr(std::string_view line) {
  return line.ends_with('\r') ? line.size() - 1 : line.size();
}

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source, int64_t max_bytes, int64_t number,
                       std::shared_ptr<MemoryAccount> account, size_t window_bytes)
    : source_(std::move(source)),
      account_(std::move(account)),
      max_bytes_(static_cast<size_t>(max_bytes)),
      window_(Buffer::Allocate(window_bytes, account_)),
      offset_(source_->position()),
      number_(number) {}

Result<std::optional<Line>> LineReader::Next() {
  size_t searched = 0;
  while (true) {
    const std::string_view held = Held();
    const size_t end = held.find('\n', searched);
    if (end != std::string_view::npos) {
      const size_t length = WithoutCr(held.substr(0, end));
      if (length > max_bytes_) return PassOver();
      return Take(length, end + 1);
    }
    if (held.size() >= max_bytes_ + kMaxEnd) return PassOver();
    searched = held.size();
    STOKER_ASSIGN_OR_RETURN(const bool more, Refill());
    if (more) continue;
    if (Held().empty()) return std::nullopt;
    const size_t length = Held().size();  // the last line, without an end
    if (length > max_bytes_) return PassOver();
    return Take(length, length);
  }
}

Line LineReader::Take(size_t length, size_t with_end) {
  const Line line{
      .text = Held().substr(0, length), .offset = offset_, .number = number_++, .length = length};
  begin_ += with_end;
  offset_ += with_end;
  return line;
}

Result<bool> LineReader::Refill() {
  const size_t held = end_ - begin_;
  if (begin_ > 0 && held > 0) std::memmove(window_.data(), window_.data() + begin_, held);
  begin_ = 0;
  end_ = held;
  if (end_ == window_.size()) {
    Buffer larger = Buffer::Allocate(
        std::min(2 * window_.size(), std::max(kWindowBytes, max_bytes_ + kMaxEnd)), account_);
    std::memcpy(larger.data(), window_.data(), held);
    window_ = std::move(larger);
  }
  STOKER_ASSIGN_OR_RETURN(const size_t got,
                          source_->Read({window_.data() + end_, window_.size() - end_}));
  end_ += got;
  return got > 0;
}

Result<std::optional<Line>> LineReader::PassOver() {
  Line line{.offset = offset_, .number = number_, .too_long = true};
  uint64_t bytes = 0;  // of the line that have been passed over
  bool ends_with_cr = false;
  while (true) {
    const std::string_view held = Held();
    const size_t end = held.find('\n');
    const size_t part = std::min(end, held.size());
    bytes += part;
    if (part > 0) ends_with_cr = held[part - 1] == '\r';
    begin_ += part;
    if (end != std::string_view::npos) break;
    STOKER_ASSIGN_OR_RETURN(const bool more, Refill());
    if (!more) break;
  }
  const bool has_end = begin_ < end_;
  begin_ += has_end ? 1 : 0;
  line.length = bytes - (has_end && ends_with_cr ? 1 : 0);
  offset_ += bytes + (has_end ? 1 : 0);
  ++number_;
  return line;
}

}  // namespace stoker
