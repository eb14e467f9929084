#include "stoker/data/text/bert_words.h"

#include <utf8proc.h>

#include <array>
#include <cstdint>

namespace stoker {
namespace {

enum class Kind : uint8_t { kPart, kSpace, kAlone, kDropped };

// The kind of each ASCII character; all of its punctuation counts, symbols such as $ and ^ too.
constexpr std::array<Kind, 128> MakeAsciiKinds() {
  std::array<Kind, 128> kinds{};
  for (size_t c = 0; c < kinds.size(); ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    kinds[c] = space                  ? Kind::kSpace
               : c < ' ' || c == 0x7f ? Kind::kDropped
               : letter || digit      ? Kind::kPart
                                      : Kind::kAlone;
  }
  return kinds;
}
constexpr std::array<Kind, 128> kAsciiKinds = MakeAsciiKinds();

constexpr utf8proc_int32_t kReplacement = 0xfffd;
constexpr utf8proc_int32_t kCapitalIWithDot = 0x130;  // the one letter whose lower case is two
constexpr utf8proc_int32_t kDotAbove = 0x307;

bool IsChinese(utf8proc_int32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
         (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
         (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

Kind KindOf(utf8proc_int32_t c) {
  if (c < 128) return kAsciiKinds[static_cast<size_t>(c)];
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO: return Kind::kDropped;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return Kind::kSpace;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO: return Kind::kAlone;
    default: return Kind::kPart;
  }
}

class Cutter {
 public:
  Cutter(const BertWordsOptions& options, std::string& word, WordSink& sink)
      : options_(options), word_(word), sink_(sink) {
    word_.clear();
  }

  void Cut(std::string_view text) {
    while (!text.empty()) {
      text.remove_prefix(static_cast<uint8_t>(text.front()) < 128 ? TakeAscii(text)
                                                                  : TakeOther(text));
    }
    EndWord();
  }

 private:
  // All characters up to the next one that is not ASCII: of most texts, nearly all.
  size_t TakeAscii(std::string_view text) {
    size_t i = 0;
    for (; i < text.size(); ++i) {
      const auto c = static_cast<uint8_t>(text[i]);
      if (c >= 128) break;
      if (kAsciiKinds[c] == Kind::kPart) {
        const bool upper = options_.lower && c >= 'A' && c <= 'Z';
        word_ += static_cast<char>(upper ? c + ('a' - 'A') : c);
      } else {
        TakeBoundary(kAsciiKinds[c], text.substr(i, 1));
      }
    }
    return i;
  }

  size_t TakeOther(std::string_view text) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t bytes =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                         static_cast<utf8proc_ssize_t>(text.size()), &c);
    if (bytes <= 0) return 1;
    const Kind kind = KindOf(c);
    if (kind == Kind::kDropped || c == kReplacement) return static_cast<size_t>(bytes);
    const bool alone = options_.split_chinese && IsChinese(c);
    if (alone || kind == Kind::kSpace) EndWord();
    if (kind != Kind::kSpace) TakeNormalized(c);
    if (alone) EndWord();
    return static_cast<size_t>(bytes);
  }

  void TakeNormalized(utf8proc_int32_t c) {
    if (!options_.strip_accents) return TakeLower(c);
    std::array<utf8proc_int32_t, 32> parts;
    int boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(c, parts.data(), parts.size(), UTF8PROC_DECOMPOSE, &boundary);
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      const utf8proc_int32_t part = parts[static_cast<size_t>(i)];
      if (utf8proc_category(part) != UTF8PROC_CATEGORY_MN) TakeLower(part);
    }
  }

  void TakeLower(utf8proc_int32_t c) {
    if (options_.lower && c == kCapitalIWithDot) {
      TakeFinal('i');
      TakeFinal(kDotAbove);
    } else {
      TakeFinal(options_.lower ? utf8proc_tolower(c) : c);
    }
  }

  void TakeFinal(utf8proc_int32_t c) {
    std::array<utf8proc_uint8_t, 4> encoded;
    const utf8proc_ssize_t bytes = utf8proc_encode_char(c, encoded.data());
    const std::string_view text(reinterpret_cast<const char*>(encoded.data()),
                                static_cast<size_t>(bytes));
    const Kind kind = KindOf(c);
    if (kind == Kind::kPart) {
      word_ += text;
    } else {
      TakeBoundary(kind, text);
    }
  }

  void TakeBoundary(Kind kind, std::string_view character) {
    if (kind == Kind::kDropped) return;
    EndWord();
    if (kind == Kind::kAlone) sink_.Take(character);
  }

  void EndWord() {
    if (word_.empty()) return;
    sink_.Take(word_);
    word_.clear();
  }

  const BertWordsOptions& options_;
  std::string& word_;
  WordSink& sink_;
};

}  // namespace

void CutBertWords(std::string_view text, const BertWordsOptions& options, std::string& buffer,
                  WordSink& sink) {
  Cutter(options, buffer, sink).Cut(text);
}

}  // namespace stoker
