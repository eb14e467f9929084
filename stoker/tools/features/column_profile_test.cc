#include "stoker/tools/features/column_profile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace stoker {
namespace column_profile_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ColumnProfile ProfileOf(std::initializer_list<std::string_view> cells,
                        const ColumnProfiler::Limits& limits = {}) {
  ColumnProfiler profiler("c", limits);
  for (const std::string_view cell : cells) profiler.Add(cell);
  return profiler.Finish();
}

MATCHER_P2(IsValue, value, count, "") { return arg.value == value && arg.count == count; }

TEST(NumberInCell, IsWhatTheSourceReadsAsANumber) {
  EXPECT_EQ(NumberInCell(" 1.5 "), 1.5);
  EXPECT_EQ(NumberInCell("+2"), 2);
  EXPECT_EQ(NumberInCell("-3e2"), -300);
  for (const std::string_view none :
       {"", "abc", "1,5", "1 2", "nan", "inf", "1e999", "+-1", "0x10"})
    EXPECT_EQ(NumberInCell(none), std::nullopt) << none;
}

TEST(ColumnProfiler, SaysWhatNumbersThereAre) {
  const ColumnProfile column = ProfileOf({"3", "1", " 2 ", "3"});
  EXPECT_EQ(column.kind, ColumnKind::kNumbers);
  EXPECT_TRUE(column.whole);
  EXPECT_EQ(column.rows, 4);
  EXPECT_EQ(column.different, 3);
  EXPECT_TRUE(column.repeats);
  EXPECT_EQ(column.least, 1);
  EXPECT_EQ(column.greatest, 3);
  EXPECT_DOUBLE_EQ(column.mean, 2.25);
  EXPECT_EQ(column.median, 3);
  EXPECT_THAT(column.common, ElementsAre(IsValue("3", 2), IsValue("1", 1), IsValue("2", 1)));
  EXPECT_TRUE(ProfileOf({"1", "2.0"}).whole);
  EXPECT_FALSE(ProfileOf({"1", "2.0"}).written_whole);
  EXPECT_FALSE(ProfileOf({"1", "2.5"}).whole);
}

TEST(ColumnProfiler, CountsEachPartOfTheRange) {
  ColumnProfiler profiler("c", {});
  for (int i = 0; i < 100; ++i) profiler.Add(i < 90 ? "0" : "20");
  const ColumnProfile column = profiler.Finish();
  ASSERT_EQ(column.histogram.size(), 20);
  EXPECT_EQ(column.histogram.front(), 90);
  EXPECT_EQ(column.histogram.back(), 10);
  EXPECT_EQ(column.histogram[10], 0);
  EXPECT_EQ(ProfileOf({"7", "7"}).histogram.front(), 2);
  const ColumnProfile wide = ProfileOf({"-1e308", "0", "1e308"});
  EXPECT_EQ(wide.histogram.front(), 1);
  EXPECT_EQ(wide.histogram[10], 1);
  EXPECT_EQ(wide.histogram.back(), 1);
}

TEST(ColumnProfiler, MarksAreMissingAmongNumbersAndWordsAmongTexts) {
  const ColumnProfile numbers = ProfileOf({"1", "NA", "", "?", "1"});
  EXPECT_EQ(numbers.kind, ColumnKind::kNumbers);
  EXPECT_EQ(numbers.missing, 3);
  EXPECT_EQ(numbers.different, 1);
  EXPECT_THAT(numbers.marks, ElementsAre("?", "NA"));
  EXPECT_THAT(numbers.common, ElementsAre(IsValue("1", 2)));

  const ColumnProfile texts = ProfileOf({"a", "NA", "", "NA"});
  EXPECT_EQ(texts.kind, ColumnKind::kTexts);
  EXPECT_EQ(texts.missing, 1);
  EXPECT_EQ(texts.different, 2);
  EXPECT_THAT(texts.marks, ElementsAre("NA"));
  EXPECT_THAT(texts.common, ElementsAre(IsValue("NA", 2), IsValue("a", 1)));

  EXPECT_EQ(ProfileOf({"", "NA"}).kind, ColumnKind::kEmpty);
  EXPECT_EQ(ProfileOf({"", "NA"}).missing, 2);
}

TEST(ColumnProfiler, NamesTheOneTextAmongNumbers) {
  ColumnProfiler profiler("c", {});
  for (int i = 0; i < 40; ++i) profiler.Add(i == 16 ? "abc" : "1");
  const ColumnProfile column = profiler.Finish();
  EXPECT_EQ(column.kind, ColumnKind::kTexts);
  ASSERT_TRUE(column.odd);
  EXPECT_EQ(column.odd->cell, "abc");
  EXPECT_EQ(column.odd->row, 17);
  EXPECT_FALSE(ProfileOf({"1", "abc", "2"}).odd);
}

TEST(ColumnProfiler, TellsNumbersOfTheRowsFromOthers) {
  ColumnProfiler up("id", {}), apart("x", {});
  for (int i = 0; i < 30; ++i) {
    up.Add(fmt::format("{}", 5 + i));
    apart.Add(fmt::format("{}", 2 * i));
  }
  EXPECT_TRUE(up.Finish().counts_up);
  EXPECT_TRUE(up.Finish().AllDiffer());
  EXPECT_FALSE(apart.Finish().counts_up);
  EXPECT_TRUE(apart.Finish().AllDiffer());
  EXPECT_FALSE(ProfileOf({"1", "2"}).AllDiffer()) << "chance";
}

TEST(ColumnProfiler, StopsCountingAtItsLimit) {
  const ColumnProfiler::Limits limits{.different = 10, .exact = 16};
  ColumnProfiler profiler("c", limits);
  for (int i = 0; i < 5000; ++i) profiler.Add(fmt::format("{}", i));
  const ColumnProfile column = profiler.Finish();
  EXPECT_TRUE(column.more);
  EXPECT_GE(column.different, 10);
  EXPECT_LE(column.different, 11);
  EXPECT_THAT(column.common, IsEmpty());
  EXPECT_NEAR(column.median, 2500, 500);
}

TEST(ColumnProfiler, OfNoRowsIsEmpty) {
  EXPECT_EQ(ProfileOf({}).kind, ColumnKind::kEmpty);
  EXPECT_EQ(ProfileOf({}).rows, 0);
}

}  // namespace column_profile_test
}  // namespace stoker
