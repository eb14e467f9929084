#include "stoker/data/text/unigram_encoder.h"

#include <algorithm>
#include <limits>

namespace stoker {
namespace {

// What an unknown character scores below the worst piece.
constexpr float kUnknownPenalty = 10;

// The length of the character whose first byte this is.
size_t CharacterBytes(char first) {
  const auto byte = static_cast<uint8_t>(first);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

bool Handles(const SentencePieceModel& model) {
  if (model.algorithm != SentencePieceAlgorithm::kUnigram || model.space_as_suffix ||
      model.byte_fallback || !model.escape_spaces)
    return false;
  int unknown = 0;
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    if (piece.type == SentencePieceType::kUserDefined || piece.type == SentencePieceType::kByte)
      return false;
    unknown += piece.type == SentencePieceType::kUnknown ? 1 : 0;
  }
  return unknown == 1;
}

}  // namespace

std::optional<UnigramEncoder> UnigramEncoder::Of(const SentencePieceModel& model) {
  if (!Handles(model)) return std::nullopt;
  std::optional<SentencePieceNormalizer> normalizer = SentencePieceNormalizer::Of(model);
  if (!normalizer) return std::nullopt;
  // Pieces that no text gives are empty, and so never found.
  std::vector<std::string> texts;
  float worst = std::numeric_limits<float>::max();
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    const bool normal = piece.type == SentencePieceType::kNormal;
    texts.push_back(normal ? piece.text : "");
    if (normal) worst = std::min(worst, piece.score);
  }
  UnigramEncoder encoder(*std::move(normalizer), texts);
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    encoder.scores_.push_back(model.pieces[i].score);
    if (model.pieces[i].type == SentencePieceType::kUnknown)
      encoder.unknown_ = static_cast<int32_t>(i);
  }
  encoder.unknown_score_ = worst - kUnknownPenalty;
  return encoder;
}

void UnigramEncoder::FindBestWays(std::string_view text, std::vector<Scratch::Best>& ends) const {
  ends.assign(text.size() + 1, {});
  for (size_t begin = 0; begin < text.size();) {
    const float before = ends[begin].score;
    const auto offer = [&](size_t length, float score, int32_t piece) {
      Scratch::Best& best = ends[begin + length];
      const float sum = score + before;
      if (best.begin == Scratch::kNowhere || sum > best.score)
        best = {sum, piece, static_cast<uint32_t>(begin)};
    };
    const size_t character = std::min(CharacterBytes(text[begin]), text.size() - begin);
    bool alone = false;  // a piece is this character and no more
    trie_.ForEachPrefix(text.substr(begin), [&](size_t length, int32_t piece) {
      offer(length, scores_[static_cast<size_t>(piece)], piece);
      alone = alone || length == character;
    });
    if (!alone) offer(character, unknown_score_, unknown_);
    begin += character;
  }
}

void UnigramEncoder::Encode(std::string_view text, Scratch& scratch,
                            std::vector<int32_t>& out) const {
  normalizer_.Normalize(text, scratch.text);
  FindBestWays(scratch.text, scratch.ends);
  const size_t first = out.size();
  // From the end; unknown characters in a row are one unknown piece.
  for (size_t end = scratch.text.size(); end > 0; end = scratch.ends[end].begin) {
    const int32_t piece = scratch.ends[end].piece;
    if (piece == unknown_ && out.size() > first && out.back() == unknown_) continue;
    out.push_back(piece);
  }
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
}

}  // namespace stoker
