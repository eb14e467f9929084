#include "stoker/formats/jsonl/json_cursor.h"

#include <algorithm>

namespace stoker {
namespace {

constexpr int kDeepest = 256;
// What a control character is: below this, and never in a text but escaped.
constexpr unsigned char kFirstPrintable = 0x20;

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

void AppendUtf8(unsigned code, std::string& out) {
  const auto add = [&](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

}  // namespace

char JsonCursor::Peek() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return c;
    ++at_;
  }
  return '\0';
}

bool JsonCursor::Take(char c) {
  if (Peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

Status JsonCursor::Unexpected(std::string_view what) const {
  if (at_ >= text_.size()) return DataLoss("byte {}: {}, but the text ends", at_, what);
  const auto c = static_cast<unsigned char>(text_[at_]);
  const std::string found = c >= kFirstPrintable && c < 0x7f
                                ? fmt::format("'{}'", static_cast<char>(c))
                                : fmt::format("byte {:02x}", c);
  return DataLoss("byte {}: {}, found {}", at_, what, found);
}

Status JsonCursor::Expect(char c) {
  return Take(c) ? OkStatus() : Unexpected(fmt::format("'{}' is wanted", c));
}

Status JsonCursor::ExpectEnd() {
  Peek();
  return at_ == text_.size() ? OkStatus() : Unexpected("the value ends here, nothing may follow");
}

Result<unsigned> JsonCursor::TakeHex4() {
  unsigned code = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    const char small = static_cast<char>(c | 0x20);
    if (IsDigit(c)) {
      code = code * 16 + static_cast<unsigned>(c - '0');
    } else if (small >= 'a' && small <= 'f') {
      code = code * 16 + static_cast<unsigned>(small - 'a' + 10);
    } else {
      return Unexpected("\\u wants four hexadecimal digits");
    }
  }
  return code;
}

// at_ is past the backslash.
Status JsonCursor::AppendEscaped(std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeans = "\"\\/\b\f\n\r\t";
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  if (const size_t which = kNames.find(c); c != '\0' && which != kNames.npos) {
    out += kMeans[which];
    ++at_;
    return OkStatus();
  }
  if (c != 'u') return Unexpected("a backslash wants one of \"\\/bfnrtu after it");
  ++at_;
  STOKER_ASSIGN_OR_RETURN(unsigned code, TakeHex4());
  if (code >= 0xd800 && code < 0xe000) {
    if (code >= 0xdc00 || text_.substr(at_, 2) != "\\u")
      return Unexpected("half of a pair of surrogates stands alone");
    at_ += 2;
    STOKER_ASSIGN_OR_RETURN(const unsigned low, TakeHex4());
    if (low < 0xdc00 || low >= 0xe000)
      return Unexpected("half of a pair of surrogates stands alone");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  AppendUtf8(code, out);
  return OkStatus();
}

Result<std::string_view> JsonCursor::TakeText(std::string& scratch) {
  STOKER_RETURN_IF_ERROR(Expect('"'));
  const size_t begin = at_;
  scratch.clear();
  bool escaped = false;
  for (size_t from = begin; at_ < text_.size();) {
    const char c = text_[at_];
    if (c == '"') {
      const size_t end = at_++;
      if (!escaped) return text_.substr(begin, end - begin);
      scratch.append(text_, from, end - from);
      return std::string_view(scratch);
    }
    if (static_cast<unsigned char>(c) < kFirstPrintable)
      return Unexpected("control characters must be escaped");
    if (c != '\\') {
      ++at_;
      continue;
    }
    escaped = true;
    scratch.append(text_, from, at_ - from);
    ++at_;
    STOKER_RETURN_IF_ERROR(AppendEscaped(scratch));
    from = at_;
  }
  return Unexpected("a text wants its closing quote");
}

Status JsonCursor::SkipText() {
  std::string scratch;
  return TakeText(scratch).status();
}

void JsonCursor::SkipDigits() {
  while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
}

Result<std::string_view> JsonCursor::TakeNumber() {
  Peek();
  const size_t begin = at_;
  const auto next_is = [&](auto... c) { return at_ < text_.size() && ((text_[at_] == c) || ...); };
  if (next_is('-')) ++at_;
  for (const std::string_view word : {"Infinity", "NaN"}) {
    if (!text_.substr(at_).starts_with(word) || (word == "NaN" && at_ > begin)) continue;
    at_ += word.size();
    return text_.substr(begin, at_ - begin);
  }
  const size_t digits = at_;
  SkipDigits();
  if (at_ == digits) return Unexpected("a number is wanted");
  if (text_[digits] == '0' && at_ - digits > 1) {
    at_ = digits + 1;
    return Unexpected("a number does not begin with 0");
  }
  if (next_is('.')) {
    const size_t point = at_++;
    SkipDigits();
    if (at_ == point + 1) return Unexpected("digits are wanted after the point");
  }
  if (next_is('e', 'E')) {
    ++at_;
    if (next_is('+', '-')) ++at_;
    const size_t exponent = at_;
    SkipDigits();
    if (at_ == exponent) return Unexpected("digits are wanted in the exponent");
  }
  return text_.substr(begin, at_ - begin);
}

bool JsonCursor::TakeWord(std::string_view word) {
  Peek();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

Result<std::string_view> JsonCursor::TakeValue() {
  Peek();
  const size_t begin = at_;
  STOKER_RETURN_IF_ERROR(Skip(0));
  return text_.substr(begin, at_ - begin);
}

Status JsonCursor::Skip(int depth) {
  if (depth > kDeepest) return DataLoss("byte {}: the text nests more than {} deep", at_, kDeepest);
  switch (Peek()) {
    case '{': return SkipObject(depth);
    case '[': return SkipList(depth);
    case '"': return SkipText();
    case 't':
    case 'f':
    case 'n':
      return TakeWord("true") || TakeWord("false") || TakeWord("null")
                 ? OkStatus()
                 : Unexpected("a value is wanted");
    default: return TakeNumber().status();
  }
}

Status JsonCursor::SkipList(int depth) {
  STOKER_RETURN_IF_ERROR(Expect('['));
  if (Take(']')) return OkStatus();
  do {
    STOKER_RETURN_IF_ERROR(Skip(depth + 1));
  } while (Take(','));
  return Expect(']');
}

Status JsonCursor::SkipObject(int depth) {
  STOKER_RETURN_IF_ERROR(Expect('{'));
  if (Take('}')) return OkStatus();
  do {
    STOKER_RETURN_IF_ERROR(SkipText());
    STOKER_RETURN_IF_ERROR(Expect(':'));
    STOKER_RETURN_IF_ERROR(Skip(depth + 1));
  } while (Take(','));
  return Expect('}');
}

}  // namespace stoker
