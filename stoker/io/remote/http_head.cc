#include "stoker/io/remote/http_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace stoker {
namespace {

constexpr size_t kLongestTag = 1024;  // a longer one is kept nowhere

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsNamed(std::string_view name, std::string_view lower_case) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(name, lower_case, {}, lower);
}

void TakeStatusLine(std::string_view line, HttpHead& head) {
  head = HttpHead();
  const size_t blank = line.find(' ');
  if (blank == line.npos) return;
  constexpr size_t kDigits = 3;
  head.status = ParseNumber<int>(line.substr(blank + 1, kDigits)).value_or(0);
}

// Seconds, or a date, which counts from the server's own.
std::optional<int64_t> ParseRetryAfter(std::string_view text, const HttpHead& head) {
  if (const auto seconds = ParseNumber<int64_t>(text)) return seconds;
  const std::optional<int64_t> date = ParseHttpDate(text);
  if (!date || !head.date) return std::nullopt;
  return std::max<int64_t>(0, *date - *head.date);
}

}  // namespace

void TakeHeadLine(std::string_view line, HttpHead& head) {
  line = Trimmed(line);
  if (line.starts_with("HTTP/")) return TakeStatusLine(line, head);
  const size_t colon = line.find(':');
  if (colon == line.npos) return;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trimmed(line.substr(colon + 1));
  if (value.size() > kLongestTag) return;
  if (IsNamed(name, "content-length")) {
    head.content_length = ParseNumber<uint64_t>(value);
    head.broken_length = !head.content_length;
  }
  if (IsNamed(name, "content-range")) head.content_range = ParseContentRange(value);
  if (IsNamed(name, "etag")) head.etag = value;
  if (IsNamed(name, "last-modified")) head.last_modified = value;
  if (IsNamed(name, "x-amz-bucket-region")) head.bucket_region = value;
  if (IsNamed(name, "x-goog-generation")) head.generation = ParseNumber<uint64_t>(value);
  if (IsNamed(name, "date")) head.date = ParseHttpDate(value);
  if (IsNamed(name, "retry-after")) head.retry_after_s = ParseRetryAfter(value, head);
}

std::optional<ContentRange> ParseContentRange(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text = Trimmed(text.substr(kUnit.size()));
  const size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  ContentRange range;
  const std::string_view total = text.substr(slash + 1), part = text.substr(0, slash);
  if (total != "*") {
    range.total = ParseNumber<uint64_t>(total);
    if (!range.total) return std::nullopt;
  }
  if (part == "*") return range;
  const size_t dash = part.find('-');
  if (dash == part.npos) return std::nullopt;
  range.first = ParseNumber<uint64_t>(part.substr(0, dash));
  range.last = ParseNumber<uint64_t>(part.substr(dash + 1));
  if (!range.first || !range.last || *range.first > *range.last) return std::nullopt;
  if (range.total && *range.last >= *range.total) return std::nullopt;
  return range;
}

std::optional<int64_t> ParseHttpDate(std::string_view text) {
  // "Sun, 06 Nov 1994 08:49:37 GMT"
  constexpr size_t kLength = 29, kAtDay = 5, kAtMonth = 8, kAtYear = 12, kAtTime = 17;
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != kLength || !text.ends_with(" GMT")) return std::nullopt;
  const auto month = std::ranges::find(kMonths, text.substr(kAtMonth, 3));
  const auto day = ParseNumber<unsigned>(text.substr(kAtDay, 2));
  const auto year = ParseNumber<int>(text.substr(kAtYear, 4));
  const auto hours = ParseNumber<int>(text.substr(kAtTime, 2));
  const auto minutes = ParseNumber<int>(text.substr(kAtTime + 3, 2));
  const auto seconds = ParseNumber<int>(text.substr(kAtTime + 6, 2));
  if (month == kMonths.end() || !day || !year || !hours || !minutes || !seconds)
    return std::nullopt;
  if (*hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  const std::chrono::year_month_day when{
      std::chrono::year(*year),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
      std::chrono::day(*day)};
  if (!when.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(when).time_since_epoch();
  return std::chrono::seconds(days).count() + (*hours * 60 + *minutes) * 60 + *seconds;
}

bool IsStrongTag(std::string_view etag) {
  return etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"');
}

}  // namespace stoker
