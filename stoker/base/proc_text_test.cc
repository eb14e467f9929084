#include "stoker/base/proc_text.h"

#include <fstream>

#include "stoker/base/testing.h"

namespace stoker::proc_text_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ParseCount, AcceptsAWholeNumberAndNothingElse) {
  EXPECT_EQ(ParseCount("0"), 0);
  EXPECT_EQ(ParseCount("  42\t"), 42);
  EXPECT_EQ(ParseCount("9223372036854775807"), INT64_MAX);
  for (const char* other :
       {"", " ", "-1", "9223372036854775808", "1.5", "1e3", "0x10", "12 kB", "max"})
    EXPECT_FALSE(ParseCount(other).has_value()) << other;
}

TEST(ValueOf, FindsTheLineOfTheWholeKey) {
  constexpr std::string_view kText = "MemTotalHigh: 1\nMemTotal:   24 kB\nCpus_allowed:\t3\n";
  EXPECT_EQ(ValueOf(kText, "MemTotal"), "24 kB");
  EXPECT_EQ(ValueOf(kText, "Cpus_allowed"), "3");
  EXPECT_FALSE(ValueOf(kText, "Mem").has_value());
  EXPECT_FALSE(ValueOf("", "MemTotal").has_value());
}

TEST(MeminfoBytes, CountsInKibibytesAndRefusesWhatOverflows) {
  EXPECT_EQ(MeminfoBytes("SwapFree:  2 kB\n", "SwapFree"), 2048);
  EXPECT_EQ(MeminfoBytes("SwapFree: 2", "SwapFree"), 2048);
  EXPECT_FALSE(MeminfoBytes("SwapFree: 9223372036854775807 kB", "SwapFree").has_value());
  EXPECT_FALSE(MeminfoBytes("SwapFree: kB", "SwapFree").has_value());
}

TEST(ParseCpuList, ReadsRangesInAnyOrderOnce) {
  EXPECT_THAT(ParseCpuList("0-3,8,10-11"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(ParseCpuList("5,1-2,2"), ElementsAre(1, 2, 5));
  EXPECT_THAT(ParseCpuList("7"), ElementsAre(7));
}

TEST(ParseCpuList, LeavesOutWhatIsNoRange) {
  EXPECT_THAT(ParseCpuList(""), IsEmpty());
  EXPECT_THAT(ParseCpuList("x,3-,-4,2-1,,6"), ElementsAre(6));
  EXPECT_THAT(ParseCpuList("65535-9223372036854775807"), ElementsAre(65535));
}

TEST(SplitWords, AreWhatStandsBetweenSpacesAndTabs) {
  EXPECT_THAT(SplitWords("  a\t b  cd "), ElementsAre("a", "b", "cd"));
  EXPECT_THAT(SplitWords(" \t "), IsEmpty());
  EXPECT_THAT(SplitWords(""), IsEmpty());
}

TEST(ChosenWord, IsTheOneInBrackets) {
  EXPECT_EQ(ChosenWord("always [madvise] never"), "madvise");
  EXPECT_EQ(ChosenWord("[never]"), "never");
  for (const char* none : {"", "always", "]madvise[", "[always"}) EXPECT_EQ(ChosenWord(none), "");
}

TEST(ReadSmallText, IsEmptyForWhatCannotBeRead) {
  const TempDir folder;
  EXPECT_EQ(ReadSmallText(folder.path() / "none"), "");
  EXPECT_EQ(ReadSmallText(folder.path()), "");
  std::ofstream(folder.path() / "some") << "a\nb\n";
  EXPECT_EQ(ReadSmallText(folder.path() / "some"), "a\nb");
  EXPECT_THAT(SplitLines("a\n\nb"), ElementsAre("a", "", "b"));
}

TEST(CountOf, IsTheNumberOfTheFirstLineOfThatKey) {
  constexpr std::string_view kText = "pswpinx 9\npswpin 12\npswpin 13\nbad x\n";
  EXPECT_EQ(CountOf(kText, "pswpin"), 12);
  EXPECT_EQ(CountOf(kText, "pswp"), std::nullopt);
  EXPECT_EQ(CountOf(kText, "bad"), std::nullopt);
  EXPECT_EQ(CountOf("", "pswpin"), std::nullopt);
}

}  // namespace stoker::proc_text_test
