#include "stoker/tools/program/help_formatter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "stoker/tools/program/command_table.h"

namespace stoker::help_formatter_test {

using testing::HasSubstr;
using testing::Not;

TEST(WrapText, BreaksAtSpacesAndIndentsWhatFollows) {
  EXPECT_EQ(WrapText("one two three", 7, 0), "one two\nthree");
  EXPECT_EQ(WrapText("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(WrapText("one two three", 8, 2), "one\n  two\n  three");
  EXPECT_EQ(WrapText("one\ntwo", 80, 2), "one\n  two");
  EXPECT_EQ(WrapText("", 80, 2), "");
}

TEST(WrapText, LeavesAWordThatIsTooLongWhole) {
  EXPECT_EQ(WrapText("a incomprehensibilities b", 5, 0), "a\nincomprehensibilities\nb");
}

// A command with one of everything.
class HelpFormatterTest : public testing::Test {
 protected:
  HelpFormatterTest() : app_("Does it.\nAt length.", "stoker do") {
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.set_help_flag("-h,--help", "this text");
    app_.add_option("FILE", files_, "what to do it to")->type_name("")->required();
    app_.add_option("--to", to_, "where to")->type_name("FILE")->required();
    app_.add_option("--times", times_, "how often")->type_name("N")->default_str("once");
    app_.add_option("--set", assignments_, "a key")->type_name("K=V")->allow_extra_args(false);
    app_.add_option("--ops", op_, "an operator")->type_name("NAME")->expected(0, 1);
    app_.add_flag("--json", json_, "as JSON");
    app_.footer("Example: stoker do x");
  }

  CLI::App app_;
  std::vector<std::string> files_, assignments_;
  int times_ = 1;
  std::string op_, to_;
  bool json_ = false;
};

TEST_F(HelpFormatterTest, ShowsEveryOptionOnceWithItsDefaultAtTheRight) {
  EXPECT_EQ(app_.help(),
            "Usage: stoker do FILE... --to FILE [--times N] [--set K=V ...] [--ops [NAME]]\n"
            "                 [--json]\n"
            "Does it.\n"
            "At length.\n"
            "  FILE          what to do it to\n"
            "  --to FILE     where to\n"
            "  --times N     how often                                                 [once]\n"
            "  --set K=V     a key\n"
            "  --ops [NAME]  an operator\n"
            "  --json        as JSON\n"
            "  -h, --help    this text\n"
            "Example: stoker do x\n");
}

TEST_F(HelpFormatterTest, GivesOptionsThatAreSeldomWantedALineTogetherAndNoUsage) {
  app_.add_option("--depth", times_, "how deep")->type_name("N")->group(kSeldomGroup);
  app_.add_flag("--odd", json_, "oddly")->group(kSeldomGroup);
  EXPECT_THAT(app_.help(), HasSubstr("  -h, --help    this text\n"
                                     "  ... --depth, --odd (stoker man)\n"
                                     "Example: stoker do x\n"));
  EXPECT_THAT(app_.help(), Not(HasSubstr("[--depth")));
}

TEST_F(HelpFormatterTest, NoLineIsWiderThanTheScreen) {
  app_.add_option("--much", times_, std::string(60, 'x') + " " + std::string(60, 'y'))
      ->type_name("N")
      ->default_str("something that needs a line of its own");
  std::istringstream help(app_.help());
  for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), kHelpWidth) << line;
  EXPECT_THAT(app_.help(), HasSubstr("[something that needs a line of its own]\n"));
}

TEST(WithHeadings, ChangesNothingWhereThereAreNoColours) {
  constexpr int kNoTerminal = -1;
  for (const char* help : {"", "Usage: x\n", "Usage: x", "\nExit: 0\n  Exit: not a heading\n\n"}) {
    EXPECT_EQ(WithHeadings(help, kNoTerminal), help);
  }
}

}  // namespace stoker::help_formatter_test
