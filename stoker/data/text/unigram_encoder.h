// Segments text into the pieces of a SentencePiece unigram model, with the highest sum of scores
// (Kudo, "Subword regularization", 2018; Viterbi's search). The numbers equal those of the library
// libsentencepiece, with which the tests compare, and which takes about three times as long.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/text/sentencepiece_model.h"
#include "stoker/data/text/sentencepiece_normalizer.h"
#include "stoker/data/text/word_trie.h"

namespace stoker {

// Immutable and thread-safe.
class UnigramEncoder {
 public:
  // Returns nothing if the model has another algorithm, or a feature that only the library
  // supports: user-defined pieces, byte fallback, spaces at the end of words.
  static std::optional<UnigramEncoder> Of(const SentencePieceModel& model);

  // Reusable working memory of a caller.
  struct Scratch {
    std::string text;
    struct Best {
      float score = 0;
      int32_t piece = -1;
      uint32_t begin = kNowhere;
    };
    static constexpr uint32_t kNowhere = ~uint32_t{0};
    std::vector<Best> ends;  // by position: the best segmentation up to it
  };
  // Appends the numbers of the pieces of `text`, which has less than 2 GiB when normalised.
  void Encode(std::string_view text, Scratch& scratch, std::vector<int32_t>& out) const;

 private:
  UnigramEncoder(SentencePieceNormalizer normalizer, const std::vector<std::string>& pieces)
      : normalizer_(std::move(normalizer)), trie_(pieces) {}
  void FindBestWays(std::string_view text, std::vector<Scratch::Best>& ends) const;

  SentencePieceNormalizer normalizer_;
  WordTrie trie_;
  std::vector<float> scores_;
  int32_t unknown_ = 0;
  float unknown_score_ = 0;
};

}  // namespace stoker
