#include "stoker/data/text/sentencepiece_normalizer.h"

#include <utf8proc.h>

#include <cstring>

namespace stoker {
namespace {

constexpr std::string_view kSpace = "\u2581", kReplacementText = "\ufffd";

// The parts of a unit of darts-clone.
bool HasLeaf(uint32_t unit) { return (unit >> 8 & 1) == 1; }
uint32_t ValueOf(uint32_t unit) { return unit & 0x7fffffff; }
uint32_t LabelOf(uint32_t unit) { return unit & (uint32_t{1} << 31 | 0xff); }
uint32_t OffsetOf(uint32_t unit) { return (unit >> 10) << ((unit & 1 << 9) >> 6); }

bool IsAscii(char c) { return static_cast<uint8_t>(c) < 128; }

}  // namespace

std::optional<SentencePieceNormalizer> SentencePieceNormalizer::Of(
    const SentencePieceModel& model) {
  SentencePieceNormalizer normalizer;
  normalizer.add_dummy_prefix_ = model.add_dummy_prefix;
  normalizer.remove_extra_spaces_ = model.remove_extra_spaces;
  std::string_view map = model.character_map;
  if (!map.empty()) {
    uint32_t size = 0;
    if (map.size() < sizeof(size)) return std::nullopt;
    std::memcpy(&size, map.data(), sizeof(size));
    map.remove_prefix(sizeof(size));
    if (size > map.size() || size % sizeof(uint32_t) != 0 || size == 0) return std::nullopt;
    normalizer.units_.resize(size / sizeof(uint32_t));
    std::memcpy(normalizer.units_.data(), map.data(), size);
    normalizer.replacements_ = map.substr(size);
    if (normalizer.replacements_.empty() || normalizer.replacements_.back() != '\0')
      return std::nullopt;
  }
  for (size_t c = 0; c < normalizer.itself_.size(); ++c) {
    bool itself = true;
    for (size_t next = 0; next < normalizer.itself_.size() && itself; ++next) {
      const char pair[2] = {static_cast<char>(c), static_cast<char>(next)};
      const Replaced found = normalizer.Search({pair, 2});
      itself = found.bytes == 0 || (found.bytes == 1 && found.by == std::string_view(pair, 1));
    }
    normalizer.itself_[c] = itself && c != ' ';
  }
  return normalizer;
}

// The longest entry that the text begins with; no bytes: there is none.
SentencePieceNormalizer::Replaced SentencePieceNormalizer::Search(std::string_view text) const {
  Replaced found{{}, 0};
  if (units_.empty()) return found;
  size_t at = OffsetOf(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    at ^= byte;
    if (at >= units_.size() || LabelOf(units_[at]) != byte) break;
    const bool leaf = HasLeaf(units_[at]);
    at ^= OffsetOf(units_[at]);
    if (at >= units_.size()) break;
    if (!leaf) continue;
    const uint32_t value = ValueOf(units_[at]);
    if (value < replacements_.size()) found = {replacements_.data() + value, i + 1};
  }
  return found;
}

SentencePieceNormalizer::Replaced SentencePieceNormalizer::Begin(std::string_view text) const {
  const Replaced found = Search(text);
  if (found.bytes > 0) return found;
  utf8proc_int32_t character = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &character);
  if (bytes <= 0) return {kReplacementText, 1};
  return {text.substr(0, static_cast<size_t>(bytes)), static_cast<size_t>(bytes)};
}

void SentencePieceNormalizer::Normalize(std::string_view text, std::string& out) const {
  out.clear();
  while (remove_extra_spaces_ && !text.empty()) {
    const Replaced begin = Begin(text);
    if (begin.by != " ") break;
    text.remove_prefix(begin.bytes);
  }
  if (text.empty()) return;
  if (add_dummy_prefix_) out += kSpace;
  bool behind_space = remove_extra_spaces_;
  while (!text.empty()) {
    if (text.size() > 1 && IsAscii(text[0]) && IsAscii(text[1]) &&
        itself_[static_cast<uint8_t>(text[0])]) {
      out += text[0];
      text.remove_prefix(1);
      behind_space = false;
      continue;
    }
    const Replaced begin = Begin(text);
    std::string_view by = begin.by;
    while (behind_space && by.starts_with(' ')) by.remove_prefix(1);
    for (const char c : by) {
      if (c == ' ') {
        out += kSpace;
      } else {
        out += c;
      }
    }
    if (!by.empty()) behind_space = by.back() == ' ' && remove_extra_spaces_;
    text.remove_prefix(begin.bytes);
  }
  while (remove_extra_spaces_ && out.ends_with(kSpace)) out.resize(out.size() - kSpace.size());
}

}  // namespace stoker
