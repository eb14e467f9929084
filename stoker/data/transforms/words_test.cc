#include "stoker/data/transforms/words.h"

#include "stoker/data/core/feature_layout.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/text.h"
#include "stoker/data/transforms/hash.h"
#include "stoker/data/transforms/truncate.h"

namespace stoker::words_test {

using testing::ElementsAre;

class WordsTest : public TextTest {
 protected:
  const std::string vocabulary_ = Write("v", "<unk>\n<s>\n</s>\nthe\ncat\n");
};

TEST_F(WordsTest, LooksWordsUp) {
  EXPECT_THAT(TokensOf(LinesOf("t", "the cat\n\ncat dog the\n") |
                       Words{.vocabulary = vocabulary_, .unknown = "<unk>"}),
              ElementsAre(Tokens{3, 4}, Tokens{}, Tokens{4, 0, 3}));
  EXPECT_THAT(TokensOf(LinesOf("t", "The-cat\n") | Words{.vocabulary = vocabulary_,
                                                         .separator = "-",
                                                         .lower = true,
                                                         .begin = "<s>",
                                                         .end = "</s>"}),
              ElementsAre(Tokens{1, 3, 4, 2}));
}

TEST_F(WordsTest, TakesTheTokensAsAListAfterThoseThatAreNamed) {
  const std::vector<std::string> values = {"cat", "</s>", "the"};
  EXPECT_THAT(TokensOf(LinesOf("t", "the cat dog\n") |
                       Words{.values = values, .unknown = "<unk>", .begin = "<s>", .end = "</s>"}),
              ElementsAre(Tokens{1, 4, 2, 0, 3}));
  EXPECT_THAT(TokensOf(LinesOf("t", "the cat dog\n") |
                       Words{.values = values, .unknown = "<unk>", .reserve = 10}),
              ElementsAre(Tokens{13, 11, 10}));
}

TEST_F(WordsTest, UnknownWordsMayHaveANumberOfThoseThatAreFree) {
  const Result<Dataset> words = LinesOf("t", "the dog\n") |
                                Words{.vocabulary = vocabulary_, .unknown_number = 1, .reserve = 2};
  EXPECT_THAT(TokensOf(words), ElementsAre(Tokens{5, 1}));
  EXPECT_EQ(FindNumCategories(*words, "tokens"), 7);
}

TEST_F(WordsTest, HashedWordsHaveTheNumbersThatHashGivesThem) {
  const Result<Dataset> words = LinesOf("t", "the cat| rome | |the cat\n\n") |
                                Words{.separator = "\\|", .trim = true, .hash = 1000, .reserve = 3};
  const Result<Dataset> alone =
      LinesOf("u", "the cat\nrome\n") | Hash{.fields = {"text"}, .buckets = 1000};
  ASSERT_THAT(alone, IsOk());
  const std::vector<int64_t> numbers = Labels(*ReadAll(*alone, Runtime::Inline()), 0);
  const auto cat = static_cast<int32_t>(3 + numbers[0]),
             rome = static_cast<int32_t>(3 + numbers[1]);
  EXPECT_THAT(TokensOf(words), ElementsAre(Tokens{cat, rome, cat}, Tokens{}));
  EXPECT_EQ(FindNumCategories(*words, "tokens"), 1003);
  ExpectKeepsItsPromises(words);
}

TEST_F(WordsTest, IsWrittenInRecipes) {
  Write("t", "a cat\n");
  const Result<Dataset> dataset = FromRecipe(
      fmt::format("- lines: {}\n- words: {{vocabulary: {}, pattern: 'c\\w+', output: ids}}\n",
                  dir_ / "t", vocabulary_));
  EXPECT_THAT(TokensOf(dataset), ElementsAre(Tokens{4}));
  EXPECT_EQ(dataset->spec().ToString(), "{ids: int32[?]}");
}

TEST_F(WordsTest, AnUnknownWordIsAnErrorWhereNoTokenStandsForIt) {
  EXPECT_THAT(
      ReadAll(*(LinesOf("t", "the\nthe dog\n") | Words{.vocabulary = vocabulary_}),
              Runtime::Inline()),
      FailsWith(
          StatusCode::kOutOfRange,
          "/t: byte 4: words: element 4: the vocabulary has no 'dog'; add it, or name `unknown`"));
}

TEST_F(WordsTest, RefusesWhatCannotBe) {
  const Result<Dataset> lines = LinesOf("t", "the\n");
  EXPECT_THAT(lines | Words({.vocabulary = vocabulary_, .unknown = "<oov>"}),
              FailsWith(StatusCode::kInvalidArgument, "no token '<oov>', which `unknown` names"));
  EXPECT_THAT(lines | Words(), FailsWith(StatusCode::kInvalidArgument, "no tokens are given"));
  EXPECT_THAT(lines | Words({.vocabulary = vocabulary_, .values = {"cat"}}),
              FailsWith(StatusCode::kInvalidArgument, "are both given"));
  EXPECT_THAT(lines | Words({.vocabulary = vocabulary_, .limit = 3}),
              FailsWith(StatusCode::kInvalidArgument, "are for words that are learned"));
  EXPECT_THAT(lines | Words({.vocabulary = vocabulary_, .hash = 9}),
              FailsWith(StatusCode::kInvalidArgument, "`vocabulary` is an option of a list"));
  EXPECT_THAT(lines | Words({.hash = 9, .unknown = "<unk>"}),
              FailsWith(StatusCode::kInvalidArgument, "`unknown` is an option of a list"));
  EXPECT_THAT(
      lines | Words({.vocabulary = vocabulary_, .unknown_number = 1, .reserve = 1}),
      FailsWith(StatusCode::kInvalidArgument, "unknown_number is 1, but numbers from 1 on"));
  EXPECT_THAT(lines | Words({.vocabulary = vocabulary_, .unknown = "<unk>", .unknown_number = 0}),
              FailsWith(StatusCode::kInvalidArgument, "`unknown` and `unknown_number` both say"));
  EXPECT_THAT(lines | Words({.vocabulary = dir_ / "none"}),
              FailsWith(StatusCode::kNotFound, "none"));
  EXPECT_THAT(lines | Words({.vocabulary = vocabulary_, .pattern = "["}),
              FailsWith(StatusCode::kInvalidArgument, "words: pattern '['"));
  EXPECT_THAT(lines | Words({.vocabulary = vocabulary_}) |
                  Words({.vocabulary = vocabulary_, .field = "tokens"}),
              FailsWith(StatusCode::kInvalidArgument, "'tokens' is int32[?]; text is uint8[?]"));
}

TEST_F(WordsTest, KeepsItsPromises) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += std::string(i % 4, ' ') + "the cat the\ncat " + "dog\n";
  const Result<Dataset> words =
      LinesOf("t", text) | Words{.vocabulary = vocabulary_, .unknown = "<unk>"};
  ExpectKeepsItsPromises(words);
  ExpectKeepsItsPromises(words | Shuffle{.buffer = 7} | PaddedBatch{.size = 6, .mask = true} |
                         Prefetch{});
}

class TruncateTest : public WordsTest {};

TEST_F(TruncateTest, KeepsOneEnd) {
  const Result<Dataset> words =
      LinesOf("t", "the cat the\ncat\n") | Words{.vocabulary = vocabulary_};
  EXPECT_THAT(TokensOf(words | Truncate{.length = 2}), ElementsAre(Tokens{3, 4}, Tokens{4}));
  EXPECT_THAT(TokensOf(words | Truncate{.length = 2, .keep = "last"}),
              ElementsAre(Tokens{4, 3}, Tokens{4}));
  EXPECT_THAT(TokensOf(words | Truncate{.length = 3}), ElementsAre(Tokens{3, 4, 3}, Tokens{4}));
  ExpectKeepsItsPromises(words | Truncate{.length = 2});
}

TEST_F(TruncateTest, KnowsTheExtentWhereTheFieldsIsKnown) {
  const std::vector<int32_t> values = {1, 2, 3, 4, 5, 6};
  const Result<Dataset> rows =
      FromArrays({{"x", Array::Of(std::span<const int32_t>(values), {2, 3})}}) |
      Truncate{.length = 2, .field = "x"};
  EXPECT_EQ(rows->spec().ToString(), "{x: int32[2]}");
  EXPECT_THAT(TokensOf(rows), ElementsAre(Tokens{1, 2}, Tokens{4, 5}));
  EXPECT_THAT(FromArrays({{"x", Array::Of(std::vector<int32_t>{1})}}) |
                  Truncate({.length = 2, .field = "x"}),
              FailsWith(StatusCode::kInvalidArgument, "a single value"));
}

}  // namespace stoker::words_test
