#include "stoker/data/text/wordpiece.h"

#include "stoker/base/testing.h"

namespace stoker::text_wordpiece_test {

using testing::ElementsAre;
using testing::IsEmpty;

class Collected final : public WordSink {
 public:
  void Take(std::string_view word) override { words.emplace_back(word); }
  std::vector<std::string> words;
};

std::vector<std::string> WordsOf(std::string_view text, const BertWordsOptions& options = {}) {
  Collected collected;
  std::string buffer;
  CutBertWords(text, options, buffer, collected);
  return collected.words;
}

constexpr BertWordsOptions kCased{.lower = false, .strip_accents = false};

// The examples are those of the package `tokenizers`, 0.22, and were read off it.
TEST(BertWords, SeparatesPunctuationAndWhiteSpace) {
  EXPECT_THAT(WordsOf("Hello, world!  It's $5.\tA\nb"),
              ElementsAre("hello", ",", "world", "!", "it", "'", "s", "$", "5", ".", "a", "b"));
  EXPECT_THAT(WordsOf(""), IsEmpty());
  EXPECT_THAT(WordsOf(" \t\r\n "), IsEmpty());
  EXPECT_THAT(WordsOf("a\u00a0b\u3000c\u2028d"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(WordsOf("\u00abx\u00bb\u2014y\u3002"),
              ElementsAre("\u00ab", "x", "\u00bb", "\u2014", "y", "\u3002"));
}

TEST(BertWords, TakesAwayAccentsAndUpperCase) {
  EXPECT_THAT(WordsOf("\u00c9COLE Stra\u00dfe \u0130I \u03a3\u03a3"),
              ElementsAre("ecole", "stra\u00dfe", "ii", "\u03c3\u03c3"));
  EXPECT_THAT(WordsOf("\u00c9cole \u0130", kCased), ElementsAre("\u00c9cole", "\u0130"));
  EXPECT_THAT(WordsOf("\u00c9COLE \u0130", {.lower = true, .strip_accents = false}),
              ElementsAre("\u00e9cole", "i\u0307"));
  EXPECT_THAT(WordsOf("\u00c9COLE", {.lower = false, .strip_accents = true}), ElementsAre("ECOLE"));
  // Canonical decomposition takes Hangul apart, and makes punctuation of U+037E.
  EXPECT_THAT(WordsOf("\ud55c"), ElementsAre("\u1112\u1161\u11ab"));
  EXPECT_THAT(WordsOf("a\u037eb"), ElementsAre("a", ";", "b"));
}

TEST(BertWords, MakesEachChineseCharacterAWord) {
  EXPECT_THAT(WordsOf("ab\u4e2d\u6587cd"), ElementsAre("ab", "\u4e2d", "\u6587", "cd"));
  EXPECT_THAT(WordsOf("ab\u4e2d\u6587cd", {.split_chinese = false}),
              ElementsAre("ab\u4e2d\u6587cd"));
  EXPECT_THAT(WordsOf("\u30c6\u30b9"), ElementsAre("\u30c6\u30b9"));  // Katakana is not
}

TEST(BertWords, LeavesOutControlCharactersAndWhatIsNoUtf8) {
  EXPECT_THAT(WordsOf(std::string_view("a\0b\x7f\x01"
                                       "c",
                                       6)),
              ElementsAre("abc"));
  EXPECT_THAT(WordsOf("a\u200bb\ufffdc\u00add"), ElementsAre("abcd"));
  EXPECT_THAT(WordsOf("a\xff\xc3"), ElementsAre("a"));
  EXPECT_THAT(WordsOf("a\xe4\xb8z\xed\xa0\x80y"), ElementsAre("azy"));
}

WordPiece Model(WordPieceOptions options = {}) {
  Result<Vocabulary> vocabulary =
      Vocabulary::Of({"[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "aff", "##a", "a",
                      "##\u00e9", ",", "[MASK]"});
  return *WordPiece::Create(*std::move(vocabulary), std::move(options));
}

std::vector<int32_t> Encoded(const WordPiece& model, std::string_view text) {
  std::vector<int32_t> out;
  WordPiece::Scratch scratch;
  model.Encode(text, scratch, out);
  return out;
}

TEST(WordPiece, TakesTheLongestPieceEachTime) {
  EXPECT_THAT(Encoded(Model(), "unaffable, AFF"), ElementsAre(3, 4, 5, 10, 6));
  EXPECT_THAT(Encoded(Model(), "aaa"), ElementsAre(8, 7, 7));
  EXPECT_THAT(Encoded(Model(), ""), IsEmpty());
}

TEST(WordPiece, AWordThatCannotBePutTogetherIsUnknownAsAWhole) {
  EXPECT_THAT(Encoded(Model(), "unaffx un"), ElementsAre(0, 3));
  EXPECT_THAT(Encoded(Model(), "##a"), ElementsAre(0, 0, 8));  // '#' is punctuation
}

TEST(WordPiece, AWordOfTooManyCharactersIsUnknown) {
  const std::string a99 = "a" + std::string(98, 'a'), a100 = a99 + "a", a101 = a100 + "a";
  EXPECT_EQ(Encoded(Model(), a100).size(), 100u);
  EXPECT_THAT(Encoded(Model(), a101), ElementsAre(0));
  // Characters count, not bytes.
  std::string accents = "a";
  for (int i = 0; i < 99; ++i) accents += "\u00e9";
  const WordPieceOptions cased{.words = kCased};
  EXPECT_EQ(Encoded(Model(cased), accents).size(), 100u);
  EXPECT_THAT(Encoded(Model(cased), accents + "\u00e9"), ElementsAre(0));
}

TEST(WordPiece, SpecialTokensInATextStayWhole) {
  EXPECT_THAT(Encoded(Model(), "un[MASK]aff [CLS]"), ElementsAre(3, 11, 6, 1));
  // This one is not in the vocabulary.
  EXPECT_THAT(Encoded(Model(), "[PAD]"), ElementsAre(0, 0, 0));
  EXPECT_THAT(Encoded(Model({.special = {}}), "[SEP]"), ElementsAre(0, 0, 0));
}

TEST(WordPiece, NeedsATokenForUnknownWords) {
  EXPECT_THAT(WordPiece::Create(*Vocabulary::Of({"a"})),
              FailsWith(StatusCode::kInvalidArgument, "no token '[UNK]'"));
}

TEST(WordPiece, AVocabularyWithoutPiecesBehindTheFirstKnowsWholeWordsOnly) {
  STOKER_ASSERT_OK_AND_ASSIGN(const WordPiece model,
                              WordPiece::Create(*Vocabulary::Of({"[UNK]", "a", "ab"})));
  EXPECT_THAT(Encoded(model, "ab a aba"), ElementsAre(2, 1, 0));
}

}  // namespace stoker::text_wordpiece_test
