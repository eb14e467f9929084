#include "stoker/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stoker/base/utf8.h"

namespace stoker {
namespace {

// The bytes of the UTF-8 character that `text` begins with; 0 if it begins with none.
size_t CharacterLength(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return text.size() >= length && IsUtf8(text.substr(0, length)) ? length : 0;
}

// REQUIRES: `character` is one UTF-8 character.
uint32_t CodePoint(std::string_view character) {
  const auto first = static_cast<uint8_t>(character[0]);
  if (character.size() == 1) return first;
  uint32_t code = first & (0x7fU >> character.size());
  for (const char next : character.substr(1)) code = code << 6 | (static_cast<uint8_t>(next) & 63);
  return code;
}

// All of them lie in the basic plane, so that four hexadecimal digits write them.
bool IsHidden(uint32_t code) {
  const auto within = [code](uint32_t first, uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || within(0x7f, 0x9f) ||                         // C0, DEL, C1
         code == 0x061c || within(0x200e, 0x200f) ||                  // Arabic, LTR, RTL mark
         within(0x2028, 0x202e) || within(0x2066, 0x2069) ||          // separators, bidi
         within(0xfdd0, 0xfdef) || code == 0xfffe || code == 0xffff;  // noncharacters
}

std::string Escape(uint32_t code) {
  switch (code) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    default: return fmt::format("\\u{:04x}", code);
  }
}

// Escapes all but the characters of `kept`, which are ASCII.
std::string Escaped(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    const std::string_view character = text.substr(0, length);
    const uint32_t code = CodePoint(character);
    const bool keep = !IsHidden(code) || kept.find(character) != std::string_view::npos;
    out += keep ? std::string(character) : Escape(code);
    text.remove_prefix(length);
  }
  return out;
}

// Most text is: then nothing is looked at character by character.
bool IsPlainAscii(std::string_view text, std::string_view kept) {
  return std::ranges::all_of(text, [kept](char c) {
    return (c >= ' ' && c <= '~') || kept.find(c) != std::string_view::npos;
  });
}

std::string EscapedWhereNeeded(std::string_view text, std::string_view kept) {
  return IsPlainAscii(text, kept) ? std::string(text) : Escaped(text, kept);
}

}  // namespace

std::string Printable(std::string_view text) { return EscapedWhereNeeded(text, ""); }

std::string PrintableLines(std::string_view text) { return EscapedWhereNeeded(text, "\n\t"); }

bool IsPrintable(std::string_view text) {
  return IsPlainAscii(text, "") || Escaped(text, "") == text;
}

}  // namespace stoker
