#include "stoker/base/testing.h"
#include "stoker/tools/verification.h"

namespace stoker {
namespace {

TEST(FilesNotWhole, SaysHowManyOfHowManyInTheirNumber) {
  const auto says = [](int64_t damaged, int64_t files, const char* text) {
    EXPECT_EQ(FilesNotWhole(damaged, files).message(), text);
  };
  says(1, 1, "the file is not whole; make or copy it again");
  says(1, 3, "1 of 3 files is not whole; make or copy it again");
  says(2, 3, "2 of 3 files are not whole; make or copy them again");
  EXPECT_EQ(FilesNotRead(1, 1).message(), "the file could not be read");
  EXPECT_EQ(FilesNotRead(2, 3).message(), "2 of 3 files could not be read");
}

TEST(Verification, TellsOfOneByteAndOfOneRecordInTheSingular) {
  const Verification found{.file = "a.tfrecord",
                           .format = "tfrecord",
                           .count = 1,
                           .damages = {{.begin = 7, .bytes = 1, .what = "lost", .first = 1},
                                       {.begin = 9, .bytes = 2, .what = "cut", .first = 2},
                                       {.begin = 20, .bytes = 1, .what = "bad", .records = 1}}};
  EXPECT_EQ(found.ToText(),
            "a.tfrecord: damaged, tfrecord, 1 record\n"
            "  byte 7: lost; 1 record before\n"
            "  bytes 9 to 10: cut; 2 records before\n"
            "  byte 20: bad; record 0\n");
}

}  // namespace
}  // namespace stoker
