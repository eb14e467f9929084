// Cuts text into words as BERT does before WordPiece: control characters go, white space separates,
// punctuation and Chinese characters are words of their own, and (for uncased models) accents and
// upper case go.
//
// Source: Devlin, Chang, Lee, Toutanova, "BERT", 2019, and its tokenization.py; where the two
// differ, as BertNormalizer and BertPreTokenizer of the package `tokenizers`: accents go by
// canonical decomposition, so that Hangul is decomposed too.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

struct BertWordsOptions {
  bool lower = true;
  bool strip_accents = true;
  bool split_chinese = true;
};

// Takes words one by one.
class WordSink {
 public:
  virtual ~WordSink() = default;
  // `word` is valid until the call returns, and not empty.
  virtual void Take(std::string_view word) = 0;
};

// Gives `sink` the words of `text`, in order. Bytes that are no UTF-8 are left out. `buffer` is
// what words are put together in: given again, it allocates nothing.
void CutBertWords(std::string_view text, const BertWordsOptions& options, std::string& buffer,
                  WordSink& sink);

}  // namespace stoker
