#include "stoker/data/text/word_splitter.h"

#include <re2/re2.h>
#include <utf8proc.h>

#include <array>
#include <optional>

namespace stoker {

struct WordSplitter::Expressions {
  std::optional<re2::RE2> pattern, separator;
  bool lower = false, trim = false;
};

namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

void SplitAtSpace(std::string_view text, std::vector<std::string_view>& out) {
  for (size_t i = 0; i < text.size();) {
    while (i < text.size() && IsSpace(text[i])) ++i;
    const size_t begin = i;
    while (i < text.size() && !IsSpace(text[i])) ++i;
    if (i > begin) out.push_back(text.substr(begin, i - begin));
  }
}

// Calls `take` with begin and end of each match that is not empty.
template <typename F>
void ForEachMatch(const re2::RE2& expression, std::string_view text, F take) {
  const re2::StringPiece whole(text.data(), text.size());
  re2::StringPiece match;
  for (size_t from = 0; from < text.size();) {
    if (!expression.Match(whole, from, text.size(), re2::RE2::UNANCHORED, &match, 1)) return;
    const auto begin = static_cast<size_t>(match.data() - text.data());
    if (match.empty()) {
      from = begin + 1;
      // Not into the middle of a character.
      while (from < text.size() && (static_cast<uint8_t>(text[from]) & 0xc0) == 0x80) ++from;
      continue;
    }
    from = begin + match.size();
    take(begin, from);
  }
}

std::string_view Lower(std::string_view text, std::string& buffer) {
  buffer.clear();
  while (!text.empty()) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t bytes =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                         static_cast<utf8proc_ssize_t>(text.size()), &c);
    if (bytes <= 0) {  // no UTF-8: as it is
      buffer += text.front();
      text.remove_prefix(1);
      continue;
    }
    std::array<utf8proc_uint8_t, 4> encoded;
    const utf8proc_ssize_t length = utf8proc_encode_char(utf8proc_tolower(c), encoded.data());
    buffer.append(reinterpret_cast<const char*>(encoded.data()), static_cast<size_t>(length));
    text.remove_prefix(static_cast<size_t>(bytes));
  }
  return buffer;
}

Status Compile(const std::string& text, std::string_view what, std::optional<re2::RE2>& into) {
  if (text.empty()) return OkStatus();
  re2::RE2::Options quiet;
  quiet.set_log_errors(false);
  into.emplace(text, quiet);
  if (into->ok()) return OkStatus();
  return InvalidArgument("{} '{}' is no regular expression: {} (RE2's syntax)", what, text,
                         into->error());
}

}  // namespace

std::string_view WordIn(std::string_view text) {
  constexpr std::string_view kSpace(" \t\n\v\f\r\0", 7);
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

Result<WordSplitter> WordSplitter::Create(const WordSplitterOptions& options) {
  if (!options.pattern.empty() && !options.separator.empty()) {
    return InvalidArgument(
        "pattern says what words are, separator what stands between them; set one of the two");
  }
  auto expressions = std::make_shared<Expressions>();
  expressions->lower = options.lower;
  expressions->trim = options.trim;
  STOKER_RETURN_IF_ERROR(Compile(options.pattern, "pattern", expressions->pattern));
  STOKER_RETURN_IF_ERROR(Compile(options.separator, "separator", expressions->separator));
  return WordSplitter(std::move(expressions));
}

void WordSplitter::Split(std::string_view text, std::string& buffer,
                         std::vector<std::string_view>& out) const {
  if (expressions_->lower) text = Lower(text, buffer);
  const auto add = [&](std::string_view word) {
    if (expressions_->trim) word = WordIn(word);
    if (!word.empty()) out.push_back(word);
  };
  if (expressions_->pattern) {
    ForEachMatch(*expressions_->pattern, text,
                 [&](size_t begin, size_t end) { add(text.substr(begin, end - begin)); });
  } else if (expressions_->separator) {
    size_t begin = 0;
    ForEachMatch(*expressions_->separator, text, [&](size_t from, size_t to) {
      add(text.substr(begin, from - begin));
      begin = to;
    });
    add(text.substr(begin));
  } else {
    SplitAtSpace(text, out);
  }
}

}  // namespace stoker
