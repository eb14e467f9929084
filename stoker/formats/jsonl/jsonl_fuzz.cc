// What is JSON for one parser is for the other, lines are read or are an error, also by what is
// guessed from them.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/formats/jsonl/json_cursor.h"
#include "stoker/formats/jsonl/json_guess.h"
#include "stoker/formats/jsonl/json_row_parser.h"

namespace {

using namespace stoker;

// Exponents of three digits and more may be beyond what a double holds.
bool HasLargeNumber(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  for (size_t at = text.find_first_of("eE"); at != text.npos; at = text.find_first_of("eE", at)) {
    at = std::min(text.find_first_not_of("+-", at + 1), text.size());
    if (std::min(text.find_first_not_of(kDigits, at), text.size()) - at > 2) return true;
  }
  return text.size() > 200;
}

// The other one goes by its own stack, checks UTF-8, knows no NaN and refuses numbers that no
// double holds.
bool Comparable(std::string_view text) {
  const bool ascii = std::ranges::all_of(text, [](char c) { return c > 0; });
  return ascii && !HasLargeNumber(text) && text.find("NaN") == text.npos &&
         text.find("Infinity") == text.npos;
}

// What one line tells, and the line read by it.
void Guess(std::string_view line, bool whole) {
  JsonGuess guess;
  const bool added = guess.Add(line).ok();
  const bool object = whole && JsonCursor(line).Peek() == '{';
  if (added != object) std::abort();
  const std::vector<JsonMember> members = guess.Members();
  const Result<JsonRowParser> parser = JsonRowParser::Make(members);
  if (!parser.ok()) std::abort();
  std::vector<std::vector<std::byte>> fixed;
  std::vector<std::byte*> memory;
  for (const JsonMember& member : members) {
    size_t bytes = DTypeSize(member.dtype);
    for (const int64_t extent : member.shape)
      bytes *= static_cast<size_t>(std::max<int64_t>(extent, 0));
    memory.push_back(fixed.emplace_back(bytes).data());
  }
  std::vector<std::string> loose(members.size());
  static_cast<void>(parser->Parse(line, memory, loose));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  JsonCursor cursor(text);
  const bool whole = cursor.TakeValue().ok() && cursor.ExpectEnd().ok();
  if (Comparable(text) && whole != Json::accept(text)) std::abort();
  Guess(text, whole);

  static const Result<JsonRowParser> parser = JsonRowParser::Make(
      {{.path = "a", .dtype = DType::kInt64, .has_default = true, .default_text = "1"},
       {.path = "b.0", .shape = {-1, 2}},
       {.path = "c.d", .kind = JsonMember::Kind::kText, .has_default = true},
       {.path = "e", .kind = JsonMember::Kind::kJson, .has_default = true}});
  int64_t number = 0;
  std::byte* const memory[4] = {reinterpret_cast<std::byte*>(&number), nullptr, nullptr, nullptr};
  std::vector<std::string> loose(4);
  const Status status = parser->Parse(text, memory, loose);
  if (!status.ok()) return 0;
  if (!whole || loose[1].size() % (2 * sizeof(float)) != 0) std::abort();
  return 0;
}
