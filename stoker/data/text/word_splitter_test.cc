#include "stoker/data/text/word_splitter.h"

#include "stoker/base/testing.h"

namespace stoker::word_splitter_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> WordsOf(const WordSplitterOptions& options, std::string_view text) {
  std::vector<std::string_view> words;
  std::string buffer;
  WordSplitter::Create(options)->Split(text, buffer, words);
  return {words.begin(), words.end()};
}

TEST(WordSplitter, SplitsAtWhiteSpace) {
  EXPECT_THAT(WordsOf({}, "  a bc\t\nd, "), ElementsAre("a", "bc", "d,"));
  EXPECT_THAT(WordsOf({}, " "), IsEmpty());
  EXPECT_THAT(WordsOf({}, ""), IsEmpty());
}

TEST(WordSplitter, TakesWhatAPatternMatches) {
  EXPECT_THAT(WordsOf({.pattern = R"(\w+|[^\w\s])"}, "It's 5.\n"),
              ElementsAre("It", "'", "s", "5", "."));
  EXPECT_THAT(WordsOf({.pattern = R"(\p{L}*)"}, "\u00e9t\u00e9 \u4e2d"),
              ElementsAre("\u00e9t\u00e9", "\u4e2d"));
  EXPECT_THAT(WordsOf({.pattern = "x*"}, "axxb"), ElementsAre("xx"));
}

TEST(WordSplitter, TakesWhatStandsBetweenSeparators) {
  EXPECT_THAT(WordsOf({.separator = ","}, ",a,,b c,"), ElementsAre("a", "b c"));
  EXPECT_THAT(WordsOf({.separator = ","}, "abc"), ElementsAre("abc"));
}

TEST(WordSplitter, LowersAllLetters) {
  EXPECT_THAT(WordsOf({.lower = true},
                      "\u00c9COLE \xff"
                      "A"),
              ElementsAre("\u00e9cole",
                          "\xff"
                          "a"));
}

TEST(WordSplitter, RefusesWhatIsNoExpression) {
  EXPECT_THAT(WordSplitter::Create({.pattern = "("}),
              FailsWith(StatusCode::kInvalidArgument, "pattern '(' is no regular expression"));
  EXPECT_THAT(WordSplitter::Create({.pattern = "a", .separator = "b"}),
              FailsWith(StatusCode::kInvalidArgument, "set one of the two"));
}

}  // namespace stoker::word_splitter_test
