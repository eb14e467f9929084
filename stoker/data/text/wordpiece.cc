#include "stoker/data/text/wordpiece.h"

#include <algorithm>

namespace stoker {
namespace {

constexpr std::string_view kBehindFirst = "##";

int64_t Characters(std::string_view utf8) {
  return std::ranges::count_if(utf8,
                               [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; });
}

}  // namespace

// Takes words and appends their pieces.
class WordPiece::Pieces final : public WordSink {
 public:
  Pieces(const WordPiece& model, std::vector<int32_t>& out) : model_(model), out_(out) {}

  void Take(std::string_view word) override {
    const auto most = static_cast<size_t>(model_.options_.max_word);
    if (word.size() > most && Characters(word) > model_.options_.max_word) {
      out_.push_back(model_.unknown_);
      return;
    }
    const size_t before = out_.size();
    WordTrie::State from = WordTrie::kRoot;
    while (!word.empty()) {
      const bool possible = out_.size() == before || model_.has_behind_;
      const WordTrie::Match match = possible ? model_.trie_.Longest(from, word) : WordTrie::Match{};
      if (match.length == 0) {
        out_.resize(before);
        out_.push_back(model_.unknown_);
        return;
      }
      out_.push_back(match.token);
      word.remove_prefix(match.length);
      from = model_.behind_;
    }
  }

 private:
  const WordPiece& model_;
  std::vector<int32_t>& out_;
};

Result<WordPiece> WordPiece::Create(Vocabulary vocabulary, WordPieceOptions options) {
  const std::optional<int32_t> unknown = vocabulary.Find(options.unknown);
  if (!unknown) {
    return InvalidArgument(
        "the vocabulary has no token '{}' for unknown words; add it, or name another",
        options.unknown);
  }
  return WordPiece(std::move(vocabulary), std::move(options), *unknown);
}

WordPiece::WordPiece(Vocabulary vocabulary, WordPieceOptions options, int32_t unknown)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      trie_(vocabulary_.tokens()),
      unknown_(unknown) {
  has_behind_ = trie_.StateBehind(kBehindFirst, behind_);
  for (const std::string& text : options_.special) {
    if (const std::optional<int32_t> number = vocabulary_.Find(text); number && !text.empty())
      special_.push_back({text, *number});
  }
  // If two begin at one place, the longer one is meant.
  std::ranges::stable_sort(special_, std::ranges::greater(),
                           [](const Special& special) { return special.text.size(); });
}

size_t WordPiece::FindSpecial(std::string_view text, const Special*& found) const {
  size_t first = text.size();
  for (const Special& special : special_) {
    const size_t at = text.substr(0, first).find(special.text);
    if (at == std::string_view::npos) continue;
    first = at;
    found = &special;
  }
  return first;
}

void WordPiece::Encode(std::string_view text, Scratch& scratch, std::vector<int32_t>& out) const {
  Pieces pieces(*this, out);
  while (!text.empty()) {
    const Special* special = nullptr;
    const size_t before = FindSpecial(text, special);
    CutBertWords(text.substr(0, before), options_.words, scratch.word, pieces);
    if (special == nullptr) return;
    out.push_back(special->number);
    text.remove_prefix(before + special->text.size());
  }
}

}  // namespace stoker
