// Lines, however the bytes arrive and wherever reading begins again, are those of a plain search.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/formats/text/line_reader.h"

namespace {

using namespace stoker;

struct Expected {
  std::string_view text;
  size_t offset;
};

std::vector<Expected> PlainSplit(std::string_view text) {
  std::vector<Expected> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (end < text.size() && line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({line, begin});
    begin = end + 1;
  }
  return lines;
}

// Begins at line `number`, `offset`; goes through to the end.
void Check(std::string_view text, const std::vector<Expected>& expected, size_t number,
           size_t offset, size_t limit) {
  const auto bytes = std::as_bytes(std::span(text)).subspan(offset);
  LineReader reader(MakeMemorySource(bytes, "input"), static_cast<int64_t>(limit),
                    static_cast<int64_t>(number));
  for (size_t i = number; i < expected.size(); ++i) {
    const Result<std::optional<Line>> line = reader.Next();
    if (!line.ok() || !*line) std::abort();
    const std::string_view wanted = expected[i].text;
    if ((*line)->too_long != (wanted.size() > limit) || (*line)->length != wanted.size())
      std::abort();
    if (!(*line)->too_long && (*line)->text != wanted) std::abort();
    if ((*line)->offset + offset != expected[i].offset) std::abort();
    if ((*line)->number != static_cast<int64_t>(i)) std::abort();
  }
  const Result<std::optional<Line>> end = reader.Next();
  if (!end.ok() || *end) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t limit = 1 + data[0] % 32;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<Expected> expected = PlainSplit(text);
  Check(text, expected, 0, 0, limit);
  if (!expected.empty()) {
    const size_t number = data[0] % expected.size();
    Check(text, expected, number, expected[number].offset, limit);
  }
  return 0;
}
