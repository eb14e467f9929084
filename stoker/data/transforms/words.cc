#include "stoker/data/transforms/words.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "stoker/base/short_text.h"
#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/value_hash.h"
#include "stoker/data/text/vocabulary.h"
#include "stoker/data/text/word_splitter.h"
#include "stoker/data/transforms/token_field_internal.h"

namespace stoker {
namespace {

// What words become.
struct WordNumbering {
  Vocabulary vocabulary;
  int32_t reserve = 0;                         // added to its numbers
  std::optional<int32_t> unknown, begin, end;  // numbers of it; nothing for those without a name
  std::optional<int32_t> unknown_number;       // below `reserve`
};

class WordsEncoder final : public internal::TokenEncoder {
 public:
  WordsEncoder(WordSplitter splitter, WordNumbering numbers)
      : splitter_(std::move(splitter)), numbers_(std::move(numbers)) {}

  Status Encode(std::string_view text, std::vector<int32_t>& out) const override {
    thread_local std::vector<std::string_view> words;
    thread_local std::string lowered;
    words.clear();
    splitter_.Split(text, lowered, words);
    const auto add = [&](int32_t number) { out.push_back(number + numbers_.reserve); };
    if (numbers_.begin) add(*numbers_.begin);
    for (const std::string_view word : words) {
      if (const std::optional<int32_t> number = numbers_.vocabulary.Find(word)) {
        add(*number);
      } else if (numbers_.unknown_number) {
        out.push_back(*numbers_.unknown_number);
      } else if (numbers_.unknown) {
        add(*numbers_.unknown);
      } else {
        return InvalidArgument("the vocabulary has no '{}'; add it, or name `unknown`",
                               ShortText(word));
      }
    }
    if (numbers_.end) add(*numbers_.end);
    return OkStatus();
  }

  const std::vector<std::string>& words() const override { return numbers_.vocabulary.tokens(); }
  int64_t first_number() const override { return numbers_.reserve; }
  int64_t num_numbers() const override {
    return int64_t{numbers_.reserve} + numbers_.vocabulary.size();
  }

 private:
  const WordSplitter splitter_;
  const WordNumbering numbers_;
};

class HashedWordsEncoder final : public internal::TokenEncoder {
 public:
  HashedWordsEncoder(WordSplitter splitter, int64_t buckets, int64_t reserve)
      : splitter_(std::move(splitter)),
        buckets_(static_cast<uint64_t>(buckets)),
        reserve_(static_cast<uint64_t>(reserve)) {}

  Status Encode(std::string_view text, std::vector<int32_t>& out) const override {
    thread_local std::vector<std::string_view> words;
    thread_local std::string lowered;
    words.clear();
    splitter_.Split(text, lowered, words);
    for (const std::string_view word : words)
      out.push_back(static_cast<int32_t>(reserve_ + HashText(word, /*seed=*/0) % buckets_));
    return OkStatus();
  }

  int64_t num_numbers() const override { return static_cast<int64_t>(reserve_ + buckets_); }

 private:
  const WordSplitter splitter_;
  const uint64_t buckets_, reserve_;
};

Result<Vocabulary> TokensOf(const Words& words) {
  if (words.values.empty() == words.vocabulary.empty()) {
    return InvalidArgument(
        "words: {}; say which there are with `vocabulary`, a file of one token a line, or with "
        "`values: [cat, dog]`, or `hash` them; in a recipe `values: auto` has them learned from "
        "the "
        "training data",
        words.values.empty() ? "no tokens are given" : "`values` and `vocabulary` are both given");
  }
  if (words.values.empty()) {
    if (words.limit || words.min_count > 1) {
      return InvalidArgument(
          "words: `limit` and `min_count` are for words that are learned (`values: auto`), and the "
          "file `vocabulary` is taken as it is; leave them out");
    }
    return Vocabulary::Load(words.vocabulary.string());
  }
  std::vector<std::string> tokens;
  for (const std::string& mark : {words.unknown, words.begin, words.end}) {
    const auto is = [&](const std::string& token) { return token == mark; };
    if (!mark.empty() && std::ranges::none_of(words.values, is) && std::ranges::none_of(tokens, is))
      tokens.push_back(mark);
  }
  std::ranges::copy(words.values, std::back_inserter(tokens));
  Result<Vocabulary> made = Vocabulary::Of(std::move(tokens));
  if (!made.ok()) return InvalidArgument("words: values: {}", made.status().message());
  return made;
}

Status FindMark(const Vocabulary& vocabulary, const std::filesystem::path& path,
                std::string_view option, const std::string& token, std::optional<int32_t>& into) {
  if (token.empty()) return OkStatus();
  into = vocabulary.Find(token);
  if (into) return OkStatus();
  return InvalidArgument("words: {}: there is no token '{}', which `{}` names; add it to the file",
                         path.string(), token, option);
}

// Refuses the options of a list of words, which hashed words do not have.
Status CheckHashed(const Words& words) {
  const Words defaults;
  const char* wrong = nullptr;
  if (!words.vocabulary.empty()) wrong = "vocabulary";
  if (!words.values.empty()) wrong = "values";
  if (!words.unknown.empty()) wrong = "unknown";
  if (words.unknown_number) wrong = "unknown_number";
  if (!words.begin.empty()) wrong = "begin";
  if (!words.end.empty()) wrong = "end";
  if (words.limit) wrong = "limit";
  if (words.min_count != defaults.min_count) wrong = "min_count";
  if (wrong == nullptr) return OkStatus();
  return InvalidArgument(
      "words: `{}` is an option of a list of words, and with `hash` there is none; leave one of "
      "the two out",
      wrong);
}

Status CheckUnknownNumber(const Words& words) {
  if (!words.unknown_number) return OkStatus();
  if (!words.unknown.empty()) {
    return InvalidArgument(
        "words: `unknown` and `unknown_number` both say what stands for words that are not there; "
        "leave one of the two out");
  }
  if (*words.unknown_number < words.reserve) return OkStatus();
  return InvalidArgument(
      "words: unknown_number is {}, but numbers from {} on are those of words; `reserve` keeps "
      "lower ones free",
      *words.unknown_number, words.reserve);
}

}  // namespace

void Words::Describe(OptionTable<Words>& table) {
  table.Field("vocabulary", &Words::vocabulary, "a file of one token a line")
      .Field("values", &Words::values,
             "instead of it the tokens, in the order of their numbers, after those of unknown, "
             "begin and end that are not among them; auto: they are learned from the training data")
      .Field("field", &Words::field, "the field that holds the text")
      .Field("output", &Words::output, "what the field with the numbers is called")
      .Field("pattern", &Words::pattern,
             "regular expression (RE2) of what words are; else they stand between white space")
      .Field("separator", &Words::separator, "regular expression of what stands between words")
      .Field("lower", &Words::lower, "lower case first")
      .Field("trim", &Words::trim,
             "words are without white space around them, and what is empty then is none")
      .Field("hash", &Words::hash,
             "instead of a list of words, how many numbers they are hashed to",
             Between(1, static_cast<double>(kMostCategories)))
      .Field("unknown", &Words::unknown,
             "the token for words that the vocabulary lacks; empty: they are errors")
      .Field("unknown_number", &Words::unknown_number,
             "instead of a token, the number of such words, below `reserve`", AtLeast(0))
      .Field("begin", &Words::begin, "a token that precedes the words")
      .Field("end", &Words::end, "a token to append to the words")
      .Field("reserve", &Words::reserve,
             "the number of the first token; those below are free, such as 0 for padding",
             Between(0, 1'000'000))
      .Field("limit", &Words::limit, "the most words that are learned; auto: all", AtLeast(1))
      .Field("min_count", &Words::min_count,
             "how often a word must be in the training data to be learned", AtLeast(1));
}

Status Words::CheckNumbering() const {
  return hash ? CheckHashed(*this) : CheckUnknownNumber(*this);
}

Result<Dataset> Words::Build(Dataset input) const {
  STOKER_RETURN_IF_ERROR(CheckNumbering());
  Result<WordSplitter> splitter = WordSplitter::Create(
      {.pattern = pattern, .separator = separator, .lower = lower, .trim = trim});
  if (!splitter.ok()) return InvalidArgument("words: {}", splitter.status().message());
  if (hash) {
    std::string details = fmt::format("hashed to {} numbers", *hash);
    if (reserve > 0) details += fmt::format(", from {}", reserve);
    return internal::EncodeField(
        std::move(input), kName, field, output, std::move(details), {},
        std::make_shared<HashedWordsEncoder>(*std::move(splitter), *hash, reserve));
  }
  STOKER_ASSIGN_OR_RETURN(Vocabulary tokens, TokensOf(*this));
  WordNumbering numbers{.vocabulary = tokens, .reserve = static_cast<int32_t>(reserve)};
  if (unknown_number) numbers.unknown_number = static_cast<int32_t>(*unknown_number);
  STOKER_RETURN_IF_ERROR(FindMark(tokens, vocabulary, "unknown", unknown, numbers.unknown));
  STOKER_RETURN_IF_ERROR(FindMark(tokens, vocabulary, "begin", begin, numbers.begin));
  STOKER_RETURN_IF_ERROR(FindMark(tokens, vocabulary, "end", end, numbers.end));
  std::string details = fmt::format("{}{} tokens with checksum {:08x}",
                                    vocabulary.empty() ? std::string() : vocabulary.string() + ", ",
                                    tokens.size(), tokens.checksum());
  if (reserve > 0) details += fmt::format(", from {}", reserve);
  if (unknown_number) details += fmt::format(", others {}", *unknown_number);
  std::vector<std::string> files;
  if (!vocabulary.empty()) files.push_back(vocabulary.string());
  return internal::EncodeField(
      std::move(input), kName, field, output, std::move(details), std::move(files),
      std::make_shared<WordsEncoder>(*std::move(splitter), std::move(numbers)));
}

}  // namespace stoker
