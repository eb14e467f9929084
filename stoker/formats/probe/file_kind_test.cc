#include "stoker/formats/probe/file_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace stoker::file_kind_test {

using namespace std::string_literals;
using namespace std::string_view_literals;

struct KindCase {
  const char* name;
  std::string bytes;
  FileKind kind;
};

std::string Tar() {
  std::string block(512, '\0');
  block.replace(0, 5, "a.txt");
  block.replace(257, 5, "ustar");
  return block;
}

// A header of a file a.txt with this in the place of its checksum. The bytes of the name sum up to
// 495, eight spaces to 256: 1357 in octal digits.
std::string OldTar(std::string_view checksum) {
  std::string block(512, '\0');
  block.replace(0, 5, "a.txt");
  return block.replace(148, checksum.size(), checksum);
}

const KindCase kKinds[] = {
    {"Empty", "", FileKind::kEmpty},
    {"IdxImages", "\0\0\x08\x03\0\0\0\x01"s, FileKind::kIdx},
    {"IdxDoubles", "\0\0\x0e\x01"s, FileKind::kIdx},
    {"IdxOfNoDimensions", "\0\0\x08\0"s, FileKind::kUnknown},
    {"IdxOfUnknownType", "\0\0\x0a\x01"s, FileKind::kUnknown},
    {"IdxCutShort", "\0\0\x08"s, FileKind::kUnknown},
    {"Gzip", "\x1f\x8b\x08\0"s, FileKind::kCompressed},
    {"Zstd", "\x28\xb5\x2f\xfd\x04"s, FileKind::kCompressed},
    {"Xz", "\xfd\x37\x7a\x58\x5a\0\0\x04"s, FileKind::kCompressed},
    {"Bzip2", "BZh91AY&SY"s, FileKind::kCompressed},
    {"NoBzip2", "BZh9 is a text"s, FileKind::kText},
    {"Safetensors", "\x02\0\0\0\0\0\0\0{}"s, FileKind::kSafetensors},
    {"SafetensorsOfTooLongAHeader", "\0\0\0\0\x01\0\0\0{"s, FileKind::kUnknown},
    {"Zip", "PK\x03\x04\x14"s, FileKind::kZip},
    {"ZipOfNoEntries", "PK\x05\x06\0"s, FileKind::kZip},
    {"OldTorch", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02"s,
     FileKind::kOldTorch},
    {"OtherPickle", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x18."s,
     FileKind::kUnknown},
    {"Numpy", "\x93NUMPY\x01"s, FileKind::kNumpy},
    {"Parquet", "PAR1\x15\x04"s, FileKind::kParquet},
    {"ArrowFile", "ARROW1\0\0\xff\xff\xff\xff"s, FileKind::kArrow},
    {"ArrowStream", "\xff\xff\xff\xff\x78\0\0\0\x10\0\0\0"s, FileKind::kArrow},
    {"NoArrowStream", "\xff\xff\xff\xff\x77\0\0\0\x10\0\0\0"s, FileKind::kUnknown},
    {"Hdf5", "\x89HDF\r\n\x1a\n"s, FileKind::kHdf5},
    {"Lmdb", std::string(16, '\0') + "\xde\xc0\xef\xbe\1\0\0\0"s, FileKind::kLmdb},
    {"RecordIo", "\x0a\x23\xd7\xce\x01\0\0\0"s, FileKind::kRecordIo},
    {"Tar", Tar(), FileKind::kTar},
    {"TarOfBeforePosix", OldTar("  1357\0 "sv), FileKind::kTar},
    {"TarOfBeforePosixWithZerosInFront", OldTar("001357\0 "sv), FileKind::kTar},
    {"TarWithAnotherChecksum", OldTar("001360\0 "sv), FileKind::kUnknown},
    {"TarWithoutChecksum", OldTar(""sv), FileKind::kUnknown},
    {"TarCutShort", OldTar("001357\0 "sv).substr(0, 511), FileKind::kUnknown},
    {"Stoker", "STKSHARD\x01"s, FileKind::kStoker},
    {"Elements", "STKELEM1\x01"s, FileKind::kElements},
    {"Png", "\x89PNG\r\n\x1a\n\0"s, FileKind::kPng},
    {"PngWhoseLineEndsWereConverted", "\x89PNG\n\x1a\n\0"s, FileKind::kUnknown},
    {"Jpeg", "\xff\xd8\xff\xe0"s, FileKind::kJpeg},
    {"Gif", "GIF89a"s, FileKind::kGif},
    {"Webp", "RIFF\x10\0\0\0WEBPVP8 "s, FileKind::kWebp},
    {"Html", "\n<!DOCTYPE html>"s, FileKind::kHtml},
    {"Json", " {\"a\": 1}"s, FileKind::kJson},
    {"Text", "data:\n  root: x\n"s, FileKind::kText},
    {"TextInUtf8", "\u00fcber\n\u65e5\u672c\U0001f600"s, FileKind::kText},
    {"TextWithAByteOrderMark", "\ufeffa,b\n"s, FileKind::kText},
    {"TextOfAnotherEncoding",
     "\xfc"
     "ber\n"s,
     FileKind::kUnknown},
    {"TextCutInACharacter", "a\xc3"s, FileKind::kUnknown},
    {"Blanks", "  \n"s, FileKind::kText},
    {"Binary", "\x7f\x45\x4c\x46\x02"s, FileKind::kUnknown},
};

class ProbeFileTest : public testing::TestWithParam<KindCase> {};

TEST_P(ProbeFileTest, KnowsTheKindByItsFirstBytes) {
  EXPECT_EQ(FileKindName(ProbeFile(std::as_bytes(std::span(GetParam().bytes)))),
            FileKindName(GetParam().kind));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ProbeFileTest, testing::ValuesIn(kKinds),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(DescribeStart, NamesTheCompressionOfCompressedData) {
  const auto described = [](std::string_view start) {
    return DescribeStart(std::as_bytes(std::span(start)));
  };
  EXPECT_EQ(described("\x1f\x8b\x08"), "gzip data");
  EXPECT_EQ(described("BZh91AY&SY"), "bzip2 data");
  EXPECT_EQ(described("PK\x03\x04"), "a zip archive (also .pt and .npz)");
}

TEST(ProbeFile, IsNotMisledByBytesBehindThePrefix) {
  const std::string text = std::string(kProbeBytes, 'a') + "\x01";
  EXPECT_EQ(ProbeFile(std::as_bytes(std::span(text))), FileKind::kText);
}

TEST(ProbeFile, TakesACharacterThatThePrefixCutsForText) {
  for (const std::string& character : {"\u00fc"s, "\u65e5"s, "\U0001f600"s}) {
    for (size_t inside = 0; inside <= character.size(); ++inside) {
      const std::string text = std::string(kProbeBytes - inside, 'a') + character;
      EXPECT_EQ(ProbeFile(std::as_bytes(std::span(text))), FileKind::kText) << inside;
    }
  }
  const std::string wrong = std::string(kProbeBytes - 2, 'a') +
                            "\xc3"
                            "a";
  EXPECT_EQ(ProbeFile(std::as_bytes(std::span(wrong))), FileKind::kUnknown);
}

}  // namespace stoker::file_kind_test
