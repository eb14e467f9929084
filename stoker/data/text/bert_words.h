// Splits text into words as BERT does before WordPiece: drops control characters, splits at white
// space, makes punctuation and Chinese characters separate words, and (for uncased models) strips
// accents and lowers case.
//
// Source: Devlin, Chang, Lee, Toutanova, "BERT", 2019, and its tokenization.py; where the two
// differ, BertNormalizer and BertPreTokenizer of the package `tokenizers`: accents are stripped by
// canonical decomposition, which decomposes Hangul too.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

struct BertWordsOptions {
  bool lower = true;
  bool strip_accents = true;
  bool split_chinese = true;
};

// Receives words one by one.
class WordSink {
 public:
  virtual ~WordSink() = default;
  // `word` is valid until the call returns, and not empty.
  virtual void Take(std::string_view word) = 0;
};

// Passes the words of `text` to `sink`, in order. Drops bytes that are not UTF-8. `buffer` is
// working memory: reuse it to avoid allocations.
void CutBertWords(std::string_view text, const BertWordsOptions& options, std::string& buffer,
                  WordSink& sink);

}  // namespace stoker
