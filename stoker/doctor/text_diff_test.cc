#include "stoker/doctor/text_diff.h"

#include <gtest/gtest.h>

namespace stoker::text_diff_test {

TEST(DiffOf, EqualTextsDifferInNothing) {
  EXPECT_EQ(DiffOf("", ""), "");
  EXPECT_EQ(DiffOf("a\nb\n", "a\nb\n"), "");
}

TEST(DiffOf, ShowsWhatIsGoneAndWhatIsNewWithTheLinesAround) {
  EXPECT_EQ(DiffOf("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n", 1), " c\n-d\n+D\n e\n");
  EXPECT_EQ(DiffOf("a\n", "a\nb\n", 0), "+b\n");
  EXPECT_EQ(DiffOf("a\nb\n", "b\n", 0), "-a\n");
}

TEST(DiffOf, MarksEqualLinesThatAreLeftOutBetweenDifferences) {
  EXPECT_EQ(DiffOf("a\n1\n2\n3\nb\n", "A\n1\n2\n3\nB\n", 1), "-a\n+A\n 1\n...\n 3\n-b\n+B\n");
}

// A table of all pairs of its lines would take 40 GB.
TEST(DiffOf, ALongTextWithOneChangeTakesLittleMemory) {
  std::string before;
  for (int i = 0; i < 100'000; ++i) before += "line\n";
  EXPECT_EQ(DiffOf(before, before + "more\n", 1), " line\n+more\n");
  EXPECT_EQ(DiffOf("first\n" + before, before, 0), "-first\n");
}

TEST(DiffOf, LinesThatRepeatBeforeAndAfterAChangeAreShownOnce) {
  EXPECT_EQ(DiffOf("a\na\n", "a\na\na\n", 0), "+a\n");
  EXPECT_EQ(DiffOf("a\nb\na\n", "a\n", 0), "-b\n-a\n");
}

}  // namespace stoker::text_diff_test
