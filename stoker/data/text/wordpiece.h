// WordPiece: encodes text as the numbers of pieces of words, for BERT.
//
// Source: Wu et al., "Google's neural machine translation system", 2016, 4.1; Devlin et al.,
// "BERT", 2019. Pieces of a word are found from its beginning, always the longest in the
// vocabulary; those after the first begin with "##" there. A word that cannot be composed is
// unknown as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/text/bert_words.h"
#include "stoker/data/text/vocabulary.h"
#include "stoker/data/text/word_trie.h"

namespace stoker {

struct WordPieceOptions {
  BertWordsOptions words;
  std::string unknown = "[UNK]";  // must be in the vocabulary
  // Tokens that are not split in a text; those that the vocabulary lacks are ignored.
  std::vector<std::string> special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  int64_t max_word = 100;  // characters; longer words are unknown
};

// Immutable and thread-safe.
class WordPiece {
 public:
  // Errors: kInvalidArgument if the vocabulary lacks `unknown`.
  static Result<WordPiece> Create(Vocabulary vocabulary, WordPieceOptions options = {});

  // Reusable working memory of a caller.
  struct Scratch {
    std::string word;
  };
  // Appends the numbers of the text's pieces. Drops bytes that are not UTF-8.
  void Encode(std::string_view text, Scratch& scratch, std::vector<int32_t>& out) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  class Pieces;
  struct Special {
    std::string text;
    int32_t number;
  };
  WordPiece(Vocabulary vocabulary, WordPieceOptions options, int32_t unknown);
  // Returns where the first special token in `text` begins, or the end of `text`.
  size_t FindSpecial(std::string_view text, const Special*& found) const;

  Vocabulary vocabulary_;
  WordPieceOptions options_;
  WordTrie trie_;
  WordTrie::State behind_ = WordTrie::kRoot;  // start of the search for pieces after the first
  bool has_behind_ = false;
  int32_t unknown_;
  std::vector<Special> special_;
};

}  // namespace stoker
