// Reads vectors of words that others have trained, as GloVe, word2vec and fastText write them as
// text: a word and its numbers on each line, after an optional first line of how many words and
// numbers there are (https://nlp.stanford.edu/projects/glove,
// https://fasttext.cc/docs/en/english-vectors.html).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// The vectors of some words.
struct WordVectors {
  std::vector<float> values;  // [words, width]; zeros for a word that the file lacks
  std::vector<bool> found;    // [words]
  int64_t num_found = 0;
};

// Reads the vectors of `words` from a file, compressed or not, or on a server. Of a word that is
// there twice the first vector counts. Keeps the vectors of `words` alone; a line may have 1 MiB.
//   width  how many numbers a vector has
// Errors: kInvalidArgument if those of the file have more or fewer; kDataLoss, with file and line,
// for a line that is no word and `width` numbers, a vector of `words` that is not finite, and a
// file without vectors or with others than its first line says; kCancelled if the thread is asked
// to stop (StopScope); those of OpenByteSource.
Result<WordVectors> ReadWordVectors(const std::string& path, std::span<const std::string> words,
                                    int64_t width);

}  // namespace stoker
