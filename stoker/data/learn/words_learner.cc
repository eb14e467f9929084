// What `lookup` and `words` learn: the words of a field, the most frequent first.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/log.h"
#include "stoker/base/options.h"
#include "stoker/base/printable.h"
#include "stoker/base/utf8.h"
#include "stoker/data/learn/learner.h"
#include "stoker/data/text/vocabulary.h"
#include "stoker/data/text/word_splitter.h"
#include "stoker/data/transforms/lookup.h"
#include "stoker/data/transforms/words.h"

namespace stoker {
namespace {

// What a stage wants of the words.
struct WantedWords {
  std::optional<int64_t> limit;
  int64_t min_count = 1;
  bool others = false;   // words that are not learned get a number too
  std::string_view how;  // to give them one
};

class WordsLearner : public StageLearner {
 public:
  explicit WordsLearner(const WantedWords& wanted) : wanted_(wanted) {}

  Status Add(const Array& kept, int64_t samples, int64_t first) override {
    const size_t length = kept.num_bytes() / static_cast<size_t>(samples);
    const auto* const text = reinterpret_cast<const char*>(kept.data());
    for (int64_t i = 0; i < samples; ++i)
      STOKER_RETURN_IF_ERROR(AddText({text + static_cast<size_t>(i) * length, length}, first + i));
    return OkStatus();
  }

  int64_t bytes() const override { return words_.bytes(); }

  Status Finish(const std::string& who, Json& options, Json& facts) override {
    if (words_.different() == 0) {
      return FailedPrecondition(
          "{} has no word on the training side ({}), so there is nothing to "
          "number",
          who, WhyNone());
    }
    if (words_.MostCommon() < wanted_.min_count) {
      return FailedPrecondition(
          "{} has no word that is there {} times on the training side (`min_count`); the most "
          "frequent is there {} times",
          who, wanted_.min_count, words_.MostCommon());
    }
    const int64_t limit = wanted_.limit.value_or(words_.different());
    STOKER_ASSIGN_OR_RETURN(const Vocabulary words,
                            words_.MostFrequent(limit, wanted_.min_count, {}));
    const auto damaged = std::ranges::find_if_not(words.tokens(), IsUtf8);
    if (damaged != words.tokens().end()) {
      return DataLoss("{} has a word that is no UTF-8 on the training side: '{}'; convert the file",
                      who, Printable(*damaged));
    }
    const int64_t left_out = words_.different() - words.size();
    if ((left_out > 0 || empty_ > 0) && !wanted_.others) {
      return InvalidArgument(
          "{} has {} on the training side that get no number; say with `unknown` {}", who,
          left_out > 0 ? fmt::format("{} words beyond limit and min_count", left_out)
                       : fmt::format("{} empty texts", empty_),
          wanted_.how);
    }
    if (words_.different() == 1) {
      LogWarning(
          "{} always has the same word on the training side, '{}', which tells a model "
          "nothing",
          who, words.token(0));
    }
    options = {{"values", words.tokens()}};
    facts = {{"different", words_.different()}, {"seen", words_.words()}, {"empty", empty_}};
    return OkStatus();
  }

 protected:
  // Counts the words of the text of one sample, which has the number `sample`.
  virtual Status AddText(std::string_view text, int64_t sample) = 0;
  // Says why there is no word at all.
  virtual std::string WhyNone() const = 0;

  WordCounts words_;
  int64_t empty_ = 0;  // texts that are no word, where each should be one

 private:
  const WantedWords wanted_;
};

// A text is a word.
class TextsLearner final : public WordsLearner {
 public:
  using WordsLearner::WordsLearner;

 private:
  Status AddText(std::string_view text, int64_t sample) override {
    const std::string_view word = WordIn(text);
    if (word.empty()) {
      ++empty_;
      return OkStatus();
    }
    if (word.find('\n') != word.npos) {
      return DataLoss(
          "sample {} of the training side has a line break in its text; that is no word", sample);
    }
    words_.Add(word);
    return OkStatus();
  }
  std::string WhyNone() const override { return fmt::format("all {} texts are empty", empty_); }
};

// A text has words.
class TokensLearner final : public WordsLearner {
 public:
  TokensLearner(const WantedWords& wanted, WordSplitter splitter)
      : WordsLearner(wanted), splitter_(std::move(splitter)) {}

 private:
  Status AddText(std::string_view text, int64_t /*sample*/) override {
    found_.clear();
    splitter_.Split(text, lowered_, found_);
    for (const std::string_view word : found_) words_.Add(word);
    ++texts_;
    return OkStatus();
  }
  std::string WhyNone() const override {
    return fmt::format("none in {} texts; see `pattern` and `separator`", texts_);
  }

  const WordSplitter splitter_;
  int64_t texts_ = 0;
  std::string lowered_;
  std::vector<std::string_view> found_;
};

}  // namespace

Result<std::unique_ptr<StageLearner>> MakeTextsLearner(const LearnerInput& input) {
  Lookup options;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(input.options, options));
  if (!options.vocabulary.empty()) {
    return InvalidArgument(
        "`vocabulary` is given, but values are auto, which learns them; leave out one of the two");
  }
  return std::make_unique<TextsLearner>(
      WantedWords{.limit = options.limit,
                  .min_count = options.min_count,
                  .others = options.unknown.has_value(),
                  .how = "which number they get, such as {values: auto, reserve: 1, unknown: 0}"});
}

Result<std::unique_ptr<StageLearner>> MakeTokensLearner(const LearnerInput& input) {
  Words options;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(input.options, options));
  if (options.hash) {
    return InvalidArgument(
        "`hash` is given, but values are auto, which learns a list of words; leave out one of the "
        "two");
  }
  STOKER_RETURN_IF_ERROR(options.CheckNumbering());
  STOKER_ASSIGN_OR_RETURN(WordSplitter splitter,
                          WordSplitter::Create({.pattern = options.pattern,
                                                .separator = options.separator,
                                                .lower = options.lower,
                                                .trim = options.trim}));
  return std::make_unique<TokensLearner>(
      WantedWords{.limit = options.limit,
                  .min_count = options.min_count,
                  .others = !options.unknown.empty() || options.unknown_number.has_value(),
                  .how = "which token stands for them, such as {values: auto, unknown: \"<unk>\"}"},
      std::move(splitter));
}

}  // namespace stoker
