#include "stoker/io/braces.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace stoker {
namespace {

constexpr size_t kMostTexts = 1'000'000;
constexpr int kMostDepth = 64;

using Texts = std::vector<std::string>;

struct Expansion {
  std::string_view pattern;
  size_t at = 0;
  int depth = 0;
};

Status Unbalanced(const Expansion& where) {
  return InvalidArgument(
      "{}: character {}: the braces do not match; write \\{{ and \\}} for braces that are meant",
      where.pattern, where.at);
}

Result<Texts> Products(const Texts& heads, const Texts& tails, std::string_view pattern) {
  if (!tails.empty() && heads.size() > kMostTexts / tails.size())
    return InvalidArgument("{}: this stands for more than {} names; name fewer", pattern,
                           kMostTexts);
  Texts all;
  all.reserve(heads.size() * tails.size());
  for (const std::string& head : heads) {
    for (const std::string& tail : tails) all.push_back(head + tail);
  }
  return all;
}

std::optional<int64_t> NumberIn(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr int64_t kLargest = int64_t{1} << 60;
  if (error != std::errc() || end != text.data() + text.size() || std::abs(number) > kLargest)
    return std::nullopt;
  return number;
}

// "07..12"; nothing if `text` is no such range.
Result<std::optional<Texts>> Range(std::string_view text, std::string_view pattern) {
  const size_t dots = text.find("..");
  if (dots == text.npos) return std::nullopt;
  const std::string_view first = text.substr(0, dots), last = text.substr(dots + 2);
  const std::optional<int64_t> from = NumberIn(first), to = NumberIn(last);
  if (!from || !to) return std::nullopt;
  if (std::abs(*to - *from) >= static_cast<int64_t>(kMostTexts))
    return InvalidArgument("{}: this stands for more than {} names; name fewer", pattern,
                           kMostTexts);
  const auto padded = [](std::string_view number) {
    const std::string_view digits = number.substr(number.starts_with('-') ? 1 : 0);
    return digits.size() > 1 && digits.front() == '0';
  };
  const size_t width = padded(first) || padded(last) ? std::max(first.size(), last.size()) : 0;
  Texts texts;
  const int64_t step = *from <= *to ? 1 : -1;
  for (int64_t number = *from;; number += step) {
    texts.push_back(fmt::format("{:0{}}", number, width));
    if (number == *to) return texts;
  }
}

Result<Texts> Sequence(Expansion& where);

// From after an opening brace to the end of the brace that closes it.
Result<Texts> Alternatives(Expansion& where) {
  const size_t begin = where.at;
  if (++where.depth > kMostDepth) return Unbalanced(where);
  Texts all;
  size_t commas = 0;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const Texts texts, Sequence(where));
    if (all.size() + texts.size() > kMostTexts) {
      return InvalidArgument("{}: this stands for more than {} names; name fewer", where.pattern,
                             kMostTexts);
    }
    all.insert(all.end(), texts.begin(), texts.end());
    if (where.at == where.pattern.size()) return Unbalanced(where);
    if (where.pattern[where.at++] == '}') break;
    ++commas;
  }
  --where.depth;
  if (commas > 0) return all;
  const std::string_view inside = where.pattern.substr(begin, where.at - 1 - begin);
  STOKER_ASSIGN_OR_RETURN(std::optional<Texts> range, Range(inside, where.pattern));
  if (range) return *std::move(range);
  for (std::string& text : all) text = "{" + text + "}";
  return all;
}

// Up to the end, or to a comma or brace that ends an alternative.
Result<Texts> Sequence(Expansion& where) {
  Texts texts = {""};
  while (where.at < where.pattern.size()) {
    const char c = where.pattern[where.at];
    if (c == '}' && where.depth == 0) return Unbalanced(where);
    if (c == '}' || (c == ',' && where.depth > 0)) return texts;
    ++where.at;
    if (c == '{') {
      STOKER_ASSIGN_OR_RETURN(const Texts inside, Alternatives(where));
      STOKER_ASSIGN_OR_RETURN(texts, Products(texts, inside, where.pattern));
      continue;
    }
    std::string literal(1, c);
    if (c == '\\' && where.at < where.pattern.size()) literal += where.pattern[where.at++];
    for (std::string& text : texts) text += literal;
  }
  return texts;
}

}  // namespace

bool HasBraces(const std::string& pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      ++i;
    } else if (pattern[i] == '{' || pattern[i] == '}') {
      return true;
    }
  }
  return false;
}

Result<std::vector<std::string>> ExpandBraces(const std::string& pattern) {
  Expansion where{pattern};
  return Sequence(where);
}

}  // namespace stoker
