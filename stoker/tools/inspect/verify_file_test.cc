#include "stoker/tools/inspect/verify_file.h"

#include <string>
#include <string_view>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker::verify_file_test {

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

// One zstd frame without a checksum, of blocks that are stored as they are (RFC 8878, 3.1.1).
std::string ZstdFrame(std::string_view text) {
  constexpr size_t kBlock = 100'000;
  std::string frame("\x28\xb5\x2f\xfd\x00\x70", 6);  // a window of 16 MiB, no size
  for (size_t at = 0; at < text.size(); at += kBlock) {
    const std::string_view block = text.substr(at, kBlock);
    const size_t header = block.size() << 3 | (at + kBlock >= text.size() ? 1 : 0);
    for (size_t shift = 0; shift < 24; shift += 8) frame += static_cast<char>(header >> shift);
    frame += block;
  }
  return frame;
}

TEST(VerifyFile, ReadsZstdDataOfWhateverIsInItToItsEnd) {
  std::string text;
  while (text.size() < 300'000) text += "a line\n";
  const std::string whole = ZstdFrame(text);
  std::string flipped = whole;
  flipped[6 + 100'003] = '\x7f';  // the length of the second block
  const TempDir directory;
  for (const char* name : {"a.txt.zst", "a.bin.zst", "a"}) {
    SCOPED_TRACE(name);
    const auto verified = [&](const std::string& content) {
      STOKER_EXPECT_OK(WriteFileAtomically(directory / name, content));
      return VerifyFile(directory / name);
    };
    EXPECT_TRUE(verified(whole).whole());
    EXPECT_TRUE(verified(whole.substr(0, 250'000)).damaged());
    EXPECT_TRUE(verified(whole.substr(0, whole.size() - 1)).damaged());
    EXPECT_THAT(verified(flipped).error, testing::HasSubstr("(compressed)"));
  }
}

}  // namespace stoker::verify_file_test
