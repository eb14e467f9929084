#include "stoker/tools/formats/text_kind.h"

#include <gtest/gtest.h>

namespace stoker::text_kind_test {

TEST(KindOfLines, TellsWhatTheFirstTwoLinesAre) {
  EXPECT_EQ(KindOfLines("n,x\n1,2\n3"), TextKind::kCsv);
  EXPECT_EQ(KindOfLines("n\tx\r\n1\t2\r\n"), TextKind::kCsv);
  EXPECT_EQ(KindOfLines("\"a,b\",c\n1,2\n"), TextKind::kCsv);
  EXPECT_EQ(KindOfLines("{\"a\": 1}\n{\"a\": 2}\n"), TextKind::kJsonl);
  EXPECT_EQ(KindOfLines("+1 3:0.5 7:2\n-1 1:1\n"), TextKind::kLibsvm);
}

TEST(KindOfLines, TakesWhatItDoesNotKnowForNothing) {
  for (const char* text :
       {"", "\n", "words\n", "Well, this is prose.\nAnd more, and more, of it.\n", "1\n2\n",
        "{\n  \"a\": 1\n}\n", "1 2 3\n4 5 6\n", "1:2\n3:4\n"}) {
    EXPECT_EQ(KindOfLines(text), TextKind::kOther) << text;
  }
}

}  // namespace stoker::text_kind_test
