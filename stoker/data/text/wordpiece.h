// WordPiece: text as the numbers of pieces of words, as BERT takes it.
//
// Source: Wu et al., "Google's neural machine translation system", 2016, 4.1; Devlin et al.,
// "BERT", 2019. Pieces of a word are found from its begin, always the longest that the vocabulary
// has; those behind the first begin with "##" there. A word that cannot be put together is unknown
// as a whole.
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
  // Tokens that stay whole where a text has them; those that the vocabulary lacks are left out.
  std::vector<std::string> special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  int64_t max_word = 100;  // characters; longer words are unknown
};

// Immutable and thread-safe.
class WordPiece {
 public:
  // Errors: kInvalidArgument if the vocabulary lacks `unknown`.
  static Result<WordPiece> Create(Vocabulary vocabulary, WordPieceOptions options = {});

  // Memory of a caller that is used again and again.
  struct Scratch {
    std::string word;
  };
  // Appends the numbers of the text's pieces. Bytes that are no UTF-8 are left out.
  void Encode(std::string_view text, Scratch& scratch, std::vector<int32_t>& out) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  class Pieces;
  struct Special {
    std::string text;
    int32_t number;
  };
  WordPiece(Vocabulary vocabulary, WordPieceOptions options, int32_t unknown);
  // Where the first special token in `text` begins, or its end.
  size_t FindSpecial(std::string_view text, const Special*& found) const;

  Vocabulary vocabulary_;
  WordPieceOptions options_;
  WordTrie trie_;
  WordTrie::State behind_ = WordTrie::kRoot;  // where pieces behind the first are found
  bool has_behind_ = false;
  int32_t unknown_;
  std::vector<Special> special_;
};

}  // namespace stoker
