#include "stoker/base/printable.h"

#include <gtest/gtest.h>

#include "stoker/base/json.h"

namespace stoker::printable_test {

struct Case {
  const char* name;
  std::string_view text, want;
};

class PrintableText : public testing::TestWithParam<Case> {};

TEST_P(PrintableText, HasNoCharacterThatATerminalObeys) {
  EXPECT_EQ(Printable(GetParam().text), GetParam().want);
  EXPECT_EQ(IsPrintable(GetParam().text), GetParam().text == GetParam().want);
}

TEST_P(PrintableText, IsEscapedOnlyOnce) {
  EXPECT_EQ(Printable(Printable(GetParam().text)), GetParam().want);
}

// The forms are those of the Unicode standard, chapters 3.9 (UTF-8), 23.1, 23.2 (controls)
// and 23.7.
INSTANTIATE_TEST_SUITE_P(Printable, PrintableText,
                         testing::Values(Case{"Empty", "", ""},
                                         Case{"Plain", "a/b c.png", "a/b c.png"},
                                         Case{"Backslash", R"(C:\new)", R"(C:\new)"},
                                         Case{"Letters",
                                              "stra\xc3\x9f"
                                              "e \xe6\xbc\xa2 \xf0\x9f\x98\x80",
                                              "stra\xc3\x9f"
                                              "e \xe6\xbc\xa2 \xf0\x9f\x98\x80"},
                                         Case{"Escape", "a\x1b[31mb", R"(a\u001b[31mb)"},
                                         Case{"Zero", std::string_view("a\0b", 3), R"(a\u0000b)"},
                                         Case{"LineBreaks", "a\nb\r\tc", R"(a\nb\r\tc)"},
                                         Case{"Delete", "\x7f", R"(\u007f)"},
                                         Case{"NextLine", "\xc2\x85", R"(\u0085)"},
                                         Case{"ControlSequenceOfOneByte", "\xc2\x9b", R"(\u009b)"},
                                         Case{"NoBreakSpaceStays", "\xc2\xa0", "\xc2\xa0"},
                                         Case{"RightToLeftOverride",
                                              "a\xe2\x80\xae"
                                              "b",
                                              R"(a\u202eb)"},
                                         Case{"Isolate", "\xe2\x81\xa6", R"(\u2066)"},
                                         Case{"ArabicMark", "\xd8\x9c", R"(\u061c)"},
                                         Case{"LineSeparator", "\xe2\x80\xa8", R"(\u2028)"},
                                         Case{"Noncharacter", "\xef\xb7\x90", R"(\ufdd0)"},
                                         Case{"LoneByte", "a\xff", R"(a\xff)"},
                                         Case{"CutCharacter", "\xe6\xbc", R"(\xe6\xbc)"},
                                         Case{"Overlong", "\xc0\x9b", R"(\xc0\x9b)"},
                                         Case{"Surrogate", "\xed\xa0\x80", R"(\xed\xa0\x80)"}),
                         [](const auto& tested) { return tested.param.name; });

TEST(PrintableLines, KeepsLineBreaksAndTabsAlone) {
  EXPECT_EQ(PrintableLines("a\tb\n\x1b\r\n"), "a\tb\n\\u001b\\r\n");
}

TEST(PrintableLines, LeavesJsonTheSameJson) {
  const Json json = {{"file", "a\x1b\n\xe2\x80\xae\xc2\x9b\xef\xb7\x90\x7f"}};
  const std::string shown = PrintableLines(json.dump() + "\n");
  EXPECT_EQ(Json::parse(shown), json);
  EXPECT_TRUE(IsPrintable(shown.substr(0, shown.size() - 1)));
}

}  // namespace stoker::printable_test
