#include "stoker/data/pack/pack_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace stoker {
namespace {

constexpr int64_t kMostParts = 99'999;
constexpr std::string_view kRecordEnding = ".stoker-pack";

// All of `text`, as digits alone; nothing if it is no such number.
std::optional<int64_t> NumberIn(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && text.front() != '-' ? std::optional(number) : std::nullopt;
}

std::optional<PackPart> PartOf(std::string_view number, std::string_view of) {
  const std::optional<int64_t> k = NumberIn(number), m = NumberIn(of);
  if (!k || !m || *k < 1 || *k > *m || *m > kMostParts) return std::nullopt;
  return PackPart{.number = *k, .of = *m};
}

}  // namespace

std::string PackPart::ToString() const { return fmt::format("{}/{}", number, of); }

Result<PackPart> ParsePackPart(std::string_view text) {
  const size_t slash = text.find('/');
  const std::optional<PackPart> part =
      slash == text.npos ? std::nullopt : PartOf(text.substr(0, slash), text.substr(slash + 1));
  if (part) return *part;
  return InvalidArgument(
      "--part {}: is no part; write K/N for part K of N, from 1/N to N/N, N at most {}", text,
      kMostParts);
}

PackRange FilesOfPart(const PackPart& part, int64_t files) {
  return {.first = files * (part.number - 1) / part.of, .last = files * part.number / part.of};
}

PackRange ElementsOfFile(int64_t file, int64_t files, int64_t elements) {
  const int64_t each = elements / files, more = elements % files;
  const auto first = [&](int64_t number) { return each * number + std::min(number, more); };
  return {.first = first(file), .last = first(file + 1)};
}

std::string PartRecordName(std::string_view name, const PackPart& part) {
  return fmt::format(".{}.part-{:05}-of-{:05}{}", name, part.number, part.of, kRecordEnding);
}

std::optional<PackPart> PartOfRecordName(std::string_view record, std::string_view name) {
  const std::string begin = fmt::format(".{}.part-", name);
  constexpr std::string_view kOf = "-of-";
  constexpr size_t kDigits = 5;
  if (record.size() != begin.size() + 2 * kDigits + kOf.size() + kRecordEnding.size() ||
      !record.starts_with(begin) || !record.ends_with(kRecordEnding)) {
    return std::nullopt;
  }
  const std::string_view numbers = record.substr(begin.size(), 2 * kDigits + kOf.size());
  if (numbers.substr(kDigits, kOf.size()) != kOf) return std::nullopt;
  return PartOf(numbers.substr(0, kDigits), numbers.substr(kDigits + kOf.size()));
}

}  // namespace stoker
