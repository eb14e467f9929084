#include "stoker/data/text/vocabulary.h"

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker::vocabulary_test {

using testing::ElementsAre;

TEST(Vocabulary, NumbersTheLinesOfAFile) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "v", "[PAD]\r\nthe\n##s\n\nend"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Vocabulary vocabulary, Vocabulary::Load(dir / "v"));
  EXPECT_THAT(vocabulary.tokens(), ElementsAre("[PAD]", "the", "##s", "", "end"));
  EXPECT_EQ(vocabulary.Find("##s"), 2);
  EXPECT_EQ(vocabulary.Find("s"), std::nullopt);
  STOKER_ASSERT_OK(vocabulary.Save(dir / "w"));
  EXPECT_EQ(*ReadTextFile(dir / "w"), "[PAD]\nthe\n##s\n\nend\n");
}

TEST(Vocabulary, AByteOrderMarkIsNoPartOfTheFirstWord) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "v",
                                       "\xef\xbb\xbf"
                                       "drama\r\ncomedy\r\n"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Vocabulary vocabulary, Vocabulary::Load(dir / "v"));
  EXPECT_THAT(vocabulary.tokens(), ElementsAre("drama", "comedy"));
}

TEST(Vocabulary, RefusesATokenThatIsThereTwiceAndGivesBothLines) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "v", "a\nb\na\n"));
  EXPECT_THAT(Vocabulary::Load(dir / "v"),
              FailsWith(StatusCode::kInvalidArgument, "/v: lines 1 and 3 are both 'a'"));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "v", ""));
  EXPECT_THAT(Vocabulary::Load(dir / "v"), FailsWith(StatusCode::kInvalidArgument, "no tokens"));
  EXPECT_THAT(Vocabulary::Load(dir / "none"), FailsWith(StatusCode::kNotFound, "none"));
}

TEST(Vocabulary, IsNotSavedWhereAFileCouldNotHoldIt) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const Vocabulary vocabulary, Vocabulary::Of({"a", "b\nc"}));
  EXPECT_THAT(vocabulary.Save(dir / "v"),
              FailsWith(StatusCode::kInvalidArgument, "token 1 has a line end in it"));
}

TEST(WordCounts, GiveTheMostFrequentWordsBehindThoseThatComeFirst) {
  WordCounts counts;
  for (const char* const word : {"b", "a", "c", "a", "b", "<pad>", "d", "d", "d"}) counts.Add(word);
  EXPECT_EQ(counts.words(), 9);
  EXPECT_EQ(counts.different(), 5);
  EXPECT_THAT(counts.MostFrequent(100, 1, {})->tokens(), ElementsAre("d", "a", "b", "<pad>", "c"));
  EXPECT_THAT(counts.MostFrequent(4, 1, {"<pad>", "<unk>"})->tokens(),
              ElementsAre("<pad>", "<unk>", "d", "a"));
  EXPECT_THAT(counts.MostFrequent(100, 2, {})->tokens(), ElementsAre("d", "a", "b"));
  EXPECT_THAT(counts.MostFrequent(1, 1, {"x", "y"})->tokens(), ElementsAre("x", "y"));
}

}  // namespace stoker::vocabulary_test
