#include "stoker/tools/program/glyphs.h"

#include <cmath>
#include <limits>

#include "stoker/base/testing.h"

namespace stoker::glyphs_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ColumnsOf, CountsWideAndCombiningCharacters) {
  EXPECT_EQ(ColumnsOf(""), 0u);
  EXPECT_EQ(ColumnsOf("abc"), 3u);
  EXPECT_EQ(ColumnsOf("日本"), 4u);
  EXPECT_EQ(ColumnsOf("e\u0301"), 1u);
  EXPECT_EQ(ColumnsOf("⣿█▁"), 3u);
}

TEST(Fitted, TakesExactlySoManyColumnsWhateverTheText) {
  for (const char* text : {"", "a", "abcdefghij", "日本語の名前", "e\u0301e\u0301e\u0301e\u0301",
                           "a\x1b[31mb", "\xff\xfe", "a\tb\nc"}) {
    for (const Glyphs glyphs : {Glyphs::kAscii, Glyphs::kUnicode}) {
      for (size_t columns = 0; columns < 12; ++columns) {
        const std::string fitted = Fitted(text, columns, glyphs);
        EXPECT_EQ(ColumnsOf(fitted), columns) << text << " " << columns;
        for (const char c : fitted) {
          EXPECT_NE(c, '\x1b');
          EXPECT_TRUE(glyphs == Glyphs::kUnicode || (c >= ' ' && c <= '~')) << text;
        }
      }
    }
  }
}

TEST(Cut, MarksWhatIsCutAndLeavesTheRestAlone) {
  EXPECT_EQ(Cut("abcdef", 6, Glyphs::kUnicode), "abcdef");
  EXPECT_EQ(Cut("abcdef", 5, Glyphs::kUnicode), "abcd…");
  EXPECT_EQ(Cut("abcdef", 5, Glyphs::kAscii), "ab...");
  EXPECT_EQ(Cut("abcdef", 2, Glyphs::kAscii), "ab");
  EXPECT_EQ(Cut("日本", 3, Glyphs::kUnicode), "日…");
  EXPECT_EQ(Cut("größe", 9, Glyphs::kAscii), "gr??e");
  EXPECT_EQ(Cut("https://user:secret@host/x", 40, Glyphs::kAscii).find("secret"),
            std::string::npos);
}

TEST(Wrapped, BreaksAtSpacesAndCutsTheLastLine) {
  EXPECT_THAT(Wrapped("one two three", 7, 9, Glyphs::kAscii), ElementsAre("one two", "three"));
  EXPECT_THAT(Wrapped("one two three", 8, 9, Glyphs::kAscii), ElementsAre("one two", "three"));
  EXPECT_THAT(Wrapped("onetwothree four", 4, 9, Glyphs::kAscii),
              ElementsAre("onet", "woth", "ree", "four"));
  EXPECT_THAT(Wrapped("one two three four", 7, 2, Glyphs::kAscii),
              ElementsAre("one two", "thre..."));
  EXPECT_THAT(Wrapped("", 7, 2, Glyphs::kAscii), IsEmpty());
  EXPECT_THAT(Wrapped("abc", 0, 2, Glyphs::kAscii), IsEmpty());
  EXPECT_THAT(Wrapped("日本", 1, 9, Glyphs::kUnicode), IsEmpty());  // nothing fits
}

TEST(Bar, FillsItsShareAndNoMore) {
  EXPECT_EQ(Bar(0.5, 4, Glyphs::kAscii), "||  ");
  EXPECT_EQ(Bar(0.5, 4, Glyphs::kUnicode), "██  ");
  EXPECT_EQ(Bar(0.2, 4, Glyphs::kUnicode), "▊   ");
  for (const double share :
       {-1.0, 0.0, 0.01, 0.999, 1.0, 5.0, double{NAN}, std::numeric_limits<double>::infinity()}) {
    for (const Glyphs glyphs : {Glyphs::kAscii, Glyphs::kUnicode})
      EXPECT_EQ(ColumnsOf(Bar(share, 7, glyphs)), 7u) << share;
  }
  EXPECT_EQ(Bar(0.5, 0, Glyphs::kUnicode), "");
}

TEST(Heights, AreThoseOfTheLastValues) {
  const double values[] = {9, 0, 1, 2, 4};
  EXPECT_EQ(Heights(values, 4, Glyphs::kUnicode), " ▂▄█");
  EXPECT_EQ(Heights(values, 4, Glyphs::kAscii), " _=@");
  EXPECT_EQ(Heights(values, 4, Glyphs::kUnicode, 8), " ▁▂▄");
  const double odd[] = {NAN, -1, 0, INFINITY};
  EXPECT_EQ(Heights(odd, 4, Glyphs::kAscii), "    ");
  EXPECT_EQ(Heights({}, 4, Glyphs::kAscii), "");
}

}  // namespace stoker::glyphs_test
