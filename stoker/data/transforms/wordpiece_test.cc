#include "stoker/data/transforms/wordpiece.h"

#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/testing/text.h"

namespace stoker::transforms_wordpiece_test {

using testing::ElementsAre;

class WordpieceTest : public TextTest {
 protected:
  // "a" is 3, "##b" is 4, "c" is 5.
  const std::string vocabulary_ = Write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n##b\nc\n");
};

TEST_F(WordpieceTest, MarksBeginAndEnd) {
  const Result<Dataset> lines = LinesOf("t", "AB c\n\nx\n");
  EXPECT_THAT(TokensOf(lines | Wordpiece{.vocabulary = vocabulary_}),
              ElementsAre(Tokens{1, 3, 4, 5, 2}, Tokens{1, 2}, Tokens{1, 0, 2}));
  EXPECT_THAT(TokensOf(lines | Wordpiece{.vocabulary = vocabulary_, .mark = false}),
              ElementsAre(Tokens{3, 4, 5}, Tokens{}, Tokens{0}));
  EXPECT_THAT(TokensOf(lines | Wordpiece{.vocabulary = vocabulary_, .lower = false, .mark = false}),
              ElementsAre(Tokens{0, 5}, Tokens{}, Tokens{0}));
}

TEST_F(WordpieceTest, PutsPairsTogetherAndSaysWhichPartIsWhich) {
  const Result<Dataset> pairs =
      Source(Zip{.inputs = {*LinesOf("t", "a c\n", "question"), *LinesOf("u", "ab\n", "answer")}});
  const Result<Dataset> dataset =
      pairs | Wordpiece{.vocabulary = vocabulary_, .field = "question", .pair = "answer"};
  EXPECT_EQ(dataset->spec().ToString(), "{tokens: int32[?], token_types: int32[?]}");
  EXPECT_THAT(TokensOf(dataset), ElementsAre(Tokens{1, 3, 5, 2, 3, 4, 2}));
  EXPECT_THAT(TokensOf(dataset, 1), ElementsAre(Tokens{0, 0, 0, 0, 1, 1, 1}));
  // The other way round the fields lie the other way round.
  EXPECT_THAT(
      TokensOf(pairs | Wordpiece{.vocabulary = vocabulary_, .field = "answer", .pair = "question"}),
      ElementsAre(Tokens{1, 3, 4, 2, 3, 5, 2}));
}

TEST_F(WordpieceTest, CutsWhatIsTooLongTheLongerTextFirst) {
  EXPECT_THAT(TokensOf(LinesOf("t", "a a a c c c\n") |
                       Wordpiece{.vocabulary = vocabulary_, .max_length = 5}),
              ElementsAre(Tokens{1, 3, 3, 3, 2}));
  const auto cut = [&](const std::string& first, const std::string& second) {
    return TokensOf(
        Source(Zip{.inputs = {*LinesOf("t", first, "x"), *LinesOf("u", second, "y")}}) |
        Wordpiece{.vocabulary = vocabulary_, .field = "x", .pair = "y", .max_length = 8});
  };
  EXPECT_THAT(cut("a\n", "c c c c c c\n"), ElementsAre(Tokens{1, 3, 2, 5, 5, 5, 5, 2}));
  EXPECT_THAT(cut("a a a a a\n", "c\n"), ElementsAre(Tokens{1, 3, 3, 3, 3, 2, 5, 2}));
  EXPECT_THAT(cut("a a a a\n", "c c c c c\n"), ElementsAre(Tokens{1, 3, 3, 2, 5, 5, 5, 2}));
}

// What is kept of the tokens, a cache on disk, is told apart by this text.
TEST_F(WordpieceTest, DescribesItselfByWhatTheVocabularyHolds) {
  const Result<Dataset> lines = LinesOf("t", "ab c\n");
  const auto described = [&] { return (lines | Wordpiece{.vocabulary = vocabulary_})->ToString(); };
  const std::string before = described();
  EXPECT_EQ(described(), before);
  Write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\nc\n##b\na\n");
  EXPECT_NE(described(), before);
}

TEST_F(WordpieceTest, KeepsItsPromises) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "ab c \u00e9 " + std::string(static_cast<size_t>(i % 5), 'a') + "\n";
  const Result<Dataset> dataset = LinesOf("t", text) | Wordpiece{.vocabulary = vocabulary_};
  ExpectKeepsItsPromises(dataset);
  ExpectKeepsItsPromises(dataset | PaddedBatch{.size = 4, .lengths = true});
}

TEST_F(WordpieceTest, RefusesWhatCannotBe) {
  const Result<Dataset> lines = LinesOf("t", "a\n");
  EXPECT_THAT(lines | Wordpiece({.vocabulary = vocabulary_, .begin = "<s>"}),
              FailsWith(StatusCode::kInvalidArgument, "no token '<s>'"));
  EXPECT_THAT(lines | Wordpiece({.vocabulary = Write("v", "a\nb\n"), .mark = false}),
              FailsWith(StatusCode::kInvalidArgument, "no token '[UNK]'"));
  EXPECT_THAT(lines | Wordpiece({.vocabulary = vocabulary_, .field = "txet"}),
              FailsWith(StatusCode::kInvalidArgument, "no field 'txet'"));
  EXPECT_THAT(lines | Wordpiece({.vocabulary = vocabulary_, .pair = "text"}),
              FailsWith(StatusCode::kInvalidArgument, "are both 'text'"));
}

}  // namespace stoker::transforms_wordpiece_test
