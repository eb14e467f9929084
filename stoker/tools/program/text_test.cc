#include "stoker/tools/program/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stoker/tools/program/status_line.h"

namespace stoker::text_test {

TEST(WithThousands, PutsACommaEveryThreeDigits) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1000), "1,000");
  EXPECT_EQ(WithThousands(1234567.8), "1,234,568");
  EXPECT_EQ(WithThousands(-12345), "-12,345");
  EXPECT_EQ(WithThousands(-0.4), "0");
}

TEST(FigureText, HasOneFormWhateverTheSize) {
  EXPECT_EQ(FigureText(0.012341), "0.01234");
  EXPECT_EQ(FigureText(7.9124), "7.912");
  EXPECT_EQ(FigureText(999.94), "999.9");
  EXPECT_EQ(FigureText(999.96), "1,000");
  EXPECT_EQ(FigureText(8054.4), "8,054");
  EXPECT_EQ(FigureText(15137), "15,137");
}

TEST(ByteText, ChangesTheUnitBeforeThereAreFourDigits) {
  EXPECT_EQ(ByteText(0), "0 B");
  EXPECT_EQ(ByteText(999), "999 B");
  EXPECT_EQ(ByteText(1000), "1.0 kB");
  EXPECT_EQ(ByteText(99949), "99.9 kB");
  EXPECT_EQ(ByteText(100000), "100 kB");
  EXPECT_EQ(ByteText(999999), "1.0 MB");
  EXPECT_EQ(ByteText(18446744073709551615ull), "18.4 EB");
}

TEST(DurationText, KeepsTheTwoLargestUnits) {
  EXPECT_EQ(DurationText(-1), "0 s");
  EXPECT_EQ(DurationText(0), "0 s");
  EXPECT_EQ(DurationText(0.00001), "0.001 s");
  EXPECT_EQ(DurationText(0.4249), "0.42 s");
  EXPECT_EQ(DurationText(9.9), "9.9 s");
  EXPECT_EQ(DurationText(9.96), "10 s");
  EXPECT_EQ(DurationText(59.4), "59 s");
  EXPECT_EQ(DurationText(59.6), "1 min 00 s");
  EXPECT_EQ(DurationText(185), "3 min 05 s");
  EXPECT_EQ(DurationText(7621), "2 h 07 min");
}

TEST(CountText, KnowsOneFromMany) {
  EXPECT_EQ(CountText(0, "page"), "0 pages");
  EXPECT_EQ(CountText(1, "page"), "1 page");
  EXPECT_EQ(CountText(1201, "member"), "1,201 members");
  EXPECT_EQ(CountText(1, "class", "classes"), "1 class");
  EXPECT_EQ(CountText(2, "class", "classes"), "2 classes");
}

TEST(RangeText, IsOneNumberWhereBothEndsAre) {
  EXPECT_EQ(RangeText(65, 65, "byte"), "65 bytes");
  EXPECT_EQ(RangeText(1, 1, "label"), "1 label");
  EXPECT_EQ(RangeText(1, 2048, "byte"), "1 to 2,048 bytes");
  EXPECT_EQ(RangeText(192, 192), "192");
  EXPECT_EQ(RangeText(0, 1), "0 to 1");
}

TEST(ShortRows, KeepsTheFirstAndLastAndCountsTheKindsBetween) {
  std::vector<std::vector<std::string>> rows = {{"field", "type"}};
  for (int i = 0; i < 24; ++i) rows.push_back({fmt::format("f{}", i), "float32"});
  EXPECT_EQ(ShortRows(rows), rows);
  for (int i = 24; i < 2000; ++i) rows.push_back({fmt::format("f{}", i), "float32"});
  std::vector<std::vector<std::string>> shown = ShortRows(rows);
  ASSERT_EQ(shown.size(), 17u);
  EXPECT_EQ(shown[12][0], "f11");
  EXPECT_EQ(shown[13], (std::vector<std::string>{"... 1,985 more", "all float32"}));
  EXPECT_EQ(shown[14][0], "f1997");
  rows[20][1] = "text";
  EXPECT_EQ(ShortRows(rows)[13][1], "1,984 float32, 1 text");
}

TEST(ShellWord, QuotesWhatAShellWouldSplitOrReplace) {
  EXPECT_EQ(ShellWord("runs/fashion-1"), "runs/fashion-1");
  EXPECT_EQ(ShellWord("my runs/1"), "'my runs/1'");
  EXPECT_EQ(ShellWord("$HOME"), "'$HOME'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord(""), "''");
}

TEST(TableText, PadsColumnsAndLeavesNoSpaceAtTheEndOfALine) {
  EXPECT_EQ(TableText({{"a", "b"}, {"long", "c", "d"}, {"x"}}, 2),
            "  a     b\n  long  c  d\n  x\n");
}

TEST(BarText, HasItsWidthAtAnyShare) {
  EXPECT_EQ(BarText(0, 4), ">   ");
  EXPECT_EQ(BarText(0.5, 4), "==> ");
  EXPECT_EQ(BarText(1, 4), "====");
  EXPECT_EQ(BarText(7, 4), "====");
  EXPECT_EQ(BarText(-1, 4), ">   ");
}

}  // namespace stoker::text_test
