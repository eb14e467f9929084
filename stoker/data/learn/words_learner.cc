// What `lookup` learns: the words of a field, the most frequent first.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/log.h"
#include "stoker/base/options.h"
#include "stoker/base/printable.h"
#include "stoker/base/utf8.h"
#include "stoker/data/learn/learner.h"
#include "stoker/data/text/vocabulary.h"
#include "stoker/data/transforms/lookup.h"

namespace stoker {
namespace {

class WordsLearner final : public Learner {
 public:
  explicit WordsLearner(Lookup options) : options_(std::move(options)) {}

  Status Add(const Array& kept, int64_t samples, int64_t first) override {
    const size_t length = kept.num_bytes() / static_cast<size_t>(samples);
    const auto* const text = reinterpret_cast<const char*>(kept.data());
    for (int64_t i = 0; i < samples; ++i) {
      const std::string_view word = WordIn({text + static_cast<size_t>(i) * length, length});
      if (word.empty()) {
        ++empty_;
        continue;
      }
      if (word.find('\n') != word.npos) {
        return DataLoss(
            "sample {} of the training side has a line break in its text; that is no "
            "word",
            first + i);
      }
      words_.Add(word);
    }
    return OkStatus();
  }

  int64_t bytes() const override { return words_.bytes(); }

  Status Finish(const std::string& who, Json& options, Json& facts) override {
    if (words_.different() == 0) {
      return FailedPrecondition(
          "{} has no text on the training side (all {} are empty), so there are no words to number",
          who, empty_);
    }
    const int64_t limit = options_.limit.value_or(words_.different());
    STOKER_ASSIGN_OR_RETURN(const Vocabulary words,
                            words_.MostFrequent(limit, options_.min_count, {}));
    const auto damaged = std::ranges::find_if_not(words.tokens(), IsUtf8);
    if (damaged != words.tokens().end()) {
      return DataLoss("{} has a word that is no UTF-8 on the training side: '{}'; convert the file",
                      who, Printable(*damaged));
    }
    const int64_t left_out = words_.different() - words.size();
    if ((left_out > 0 || empty_ > 0) && !options_.unknown) {
      return InvalidArgument(
          "{} has {} on the training side that get no number; say with `unknown` which number they "
          "get, such as {{values: auto, reserve: 1, unknown: 0}}",
          who,
          left_out > 0 ? fmt::format("{} words beyond limit and min_count", left_out)
                       : fmt::format("{} empty texts", empty_));
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

 private:
  const Lookup options_;
  WordCounts words_;
  int64_t empty_ = 0;
};

}  // namespace

Result<std::unique_ptr<Learner>> MakeWordsLearner(const LearnerInput& input) {
  Lookup options;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(input.options, options));
  if (!options.vocabulary.empty()) {
    return InvalidArgument(
        "`vocabulary` is given, but values are auto, which learns them; leave out one of the two");
  }
  return std::make_unique<WordsLearner>(std::move(options));
}

}  // namespace stoker
