// Any vocabulary and any text: pieces are numbers of the vocabulary, and the same whenever asked.
#include <cstdlib>

#include "stoker/data/text/wordpiece.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  // Lines up to an empty one are tokens, what follows is text.
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> tokens = {"[UNK]", "[MASK]"};
  while (!rest.empty() && rest.front() != '\n') {
    const size_t end = std::min(rest.find('\n'), rest.size());
    tokens.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  Result<Vocabulary> vocabulary = Vocabulary::Of(std::move(tokens));
  if (!vocabulary.ok()) return 0;
  for (const bool lower : {true, false}) {
    const Result<WordPiece> model = WordPiece::Create(
        *vocabulary, {.words = {.lower = lower, .strip_accents = lower}, .max_word = 20});
    WordPiece::Scratch scratch;
    std::vector<int32_t> once, twice;
    model->Encode(rest, scratch, once);
    model->Encode(rest, scratch, twice);
    if (once != twice) std::abort();
    for (const int32_t token : once)
      if (token < 0 || token >= vocabulary->size()) std::abort();
  }
  return 0;
}
