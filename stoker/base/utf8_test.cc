#include "stoker/base/utf8.h"

#include <gtest/gtest.h>

namespace stoker::utf8_test {

TEST(Utf8, TakesCharactersOfEveryLength) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("plain\n"));
  EXPECT_TRUE(IsUtf8("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
  EXPECT_TRUE(IsUtf8("\xf4\x8f\xbf\xbf"));  // the last code point
}

TEST(Utf8, RefusesWhatIsCutShortOverlongOrASurrogate) {
  for (const char* const text : {"\xe2\x82", "\xc3", "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
                                 "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xff"}) {
    EXPECT_FALSE(IsUtf8(text)) << static_cast<int>(static_cast<unsigned char>(text[0]));
  }
}

}  // namespace stoker::utf8_test
