#include "stoker/io/braces.h"

#include "stoker/base/testing.h"

namespace stoker::braces_test {

using testing::ElementsAre;

TEST(ExpandBraces, GivesEveryTextInTheOrderWritten) {
  EXPECT_THAT(*ExpandBraces("plain"), ElementsAre("plain"));
  EXPECT_THAT(*ExpandBraces(""), ElementsAre(""));
  EXPECT_THAT(*ExpandBraces("{b,a}.tar"), ElementsAre("b.tar", "a.tar"));
  EXPECT_THAT(*ExpandBraces("x{,y}"), ElementsAre("x", "xy"));
  EXPECT_THAT(*ExpandBraces("{a,b}{1,2}"), ElementsAre("a1", "a2", "b1", "b2"));
  EXPECT_THAT(*ExpandBraces("{a,b{0..2},{c,d}e}"), ElementsAre("a", "b0", "b1", "b2", "ce", "de"));
}

TEST(ExpandBraces, CountsUpAndDownWithAsManyDigits) {
  EXPECT_THAT(*ExpandBraces("t-{008..010}.tar"),
              ElementsAre("t-008.tar", "t-009.tar", "t-010.tar"));
  EXPECT_THAT(*ExpandBraces("{8..10}"), ElementsAre("8", "9", "10"));
  EXPECT_THAT(*ExpandBraces("{2..0}"), ElementsAre("2", "1", "0"));
  EXPECT_THAT(*ExpandBraces("{-1..1}"), ElementsAre("-1", "0", "1"));
  EXPECT_THAT(*ExpandBraces("{9..010}"), ElementsAre("009", "010"));
  EXPECT_THAT(*ExpandBraces("{3..3}"), ElementsAre("3"));
}

TEST(ExpandBraces, LeavesWhatIsNoneAsItIs) {
  EXPECT_THAT(*ExpandBraces("{x}"), ElementsAre("{x}"));
  EXPECT_THAT(*ExpandBraces("a,b"), ElementsAre("a,b"));
  EXPECT_THAT(*ExpandBraces("{a..b}"), ElementsAre("{a..b}"));
  EXPECT_THAT(*ExpandBraces("\\{a,b\\}"), ElementsAre("\\{a,b\\}"));
  EXPECT_FALSE(HasBraces("a\\{b"));
  EXPECT_TRUE(HasBraces("a{b"));
}

TEST(ExpandBraces, RefusesWhatDoesNotMatchAndWhatIsTooMuch) {
  for (const char* const bad : {"{a", "a}", "{a,{b}", "{a}}"}) {
    EXPECT_THAT(ExpandBraces(bad), FailsWith(StatusCode::kInvalidArgument, "do not match")) << bad;
  }
  EXPECT_THAT(ExpandBraces(std::string(1000, '{')),
              FailsWith(StatusCode::kInvalidArgument, "do not match"));
  for (const char* const bad :
       {"{0..1000000}", "{0..999}{0..999}{0..1}", "{0..9999999999999999999}{"}) {
    EXPECT_EQ(ExpandBraces(bad).status().code(), StatusCode::kInvalidArgument) << bad;
  }
}

}  // namespace stoker::braces_test
