#include "stoker/tools/features/table_profile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "stoker/base/testing.h"
#include "stoker/tools/features/features_text.h"

namespace stoker {
namespace table_profile_test {

using ::testing::HasSubstr;
using ::testing::Not;

class TableProfileTest : public testing::Test {
 protected:
  std::string Write(const std::string& text) {
    const std::string path = (std::filesystem::path(directory_.path()) / "t.csv").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  TempDir directory_;
};

TEST_F(TableProfileTest, ReadsMoreRowsThanItRelates) {
  std::string text = "x,y\n";
  for (int i = 0; i < 60'000; ++i) text += fmt::format("{},{}\n", i % 7, i % 7 * 100 + i % 50);
  STOKER_ASSERT_OK_AND_ASSIGN(const TableProfile table,
                              ProfileTable(Write(text), "y", TargetMeaning::kAuto));
  EXPECT_EQ(table.rows, 60'000);
  EXPECT_EQ(table.sampled, 50'000);
  EXPECT_GT(table.relations[0].explained, 0.99);
  EXPECT_THAT(FeaturesText(table, ChooseColumns(table)), HasSubstr("(of 50,000 rows)"));
}

TEST_F(TableProfileTest, MarksOfMissingNumbersAreNoClassesAndBlanksNoValues) {
  std::string text = "x,y\n";
  for (int i = 0; i < 100; ++i)
    text += fmt::format("{}a,{}\n", i % 2 == 0 ? " " : "", i % 5 == 0 ? "NA" : "1");
  for (int i = 0; i < 100; ++i) text += "b, 0\n";
  STOKER_ASSERT_OK_AND_ASSIGN(const TableProfile table,
                              ProfileTable(Write(text), "y", TargetMeaning::kAuto));
  EXPECT_EQ(table.sampled, 180);
  EXPECT_EQ(table.columns[0].different, 2);
  EXPECT_GT(table.relations[0].explained, 0.95);
}

TEST_F(TableProfileTest, TheSameCellsInAFewRowsAreNoLeak) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TableProfile table,
                              ProfileTable(Write("x,y\n1,1\n2,2\n"), "y", TargetMeaning::kAuto));
  EXPECT_FALSE(table.relations[0].disguised);
}

TEST_F(TableProfileTest, TheTextNamesTheFirstOfManyColumns) {
  std::string header = "c0", row = "1";
  for (int i = 1; i < 100; ++i) {
    header += fmt::format(",c{}", i);
    row += fmt::format(",{}", i);
  }
  const std::string path = Write(header + "\n" + row + "\n" + row + "\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const TableProfile table,
                              ProfileTable(path, "", TargetMeaning::kAuto));
  const std::string text = FeaturesText(table, ChooseColumns(table));
  EXPECT_THAT(text, HasSubstr("\nc59 "));
  EXPECT_THAT(text, Not(HasSubstr("\nc60 ")));
  EXPECT_THAT(text, HasSubstr("... 40 columns more (--json has all)"));
}

}  // namespace table_profile_test
}  // namespace stoker
