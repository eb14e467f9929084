#include "stoker/image/jpeg_baseline/frame.h"

#include "stoker/base/testing.h"
#include "stoker/image/testing.h"

namespace stoker::jpeg_baseline::frame_test {

using ::testing::HasSubstr;

std::string FromHex(std::string_view hex) {
  std::string bytes;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  return bytes;
}

std::string Good(const JpegSettings& settings = {.sampling = Sampling(2, 1),
                                                 .restart_interval = 7}) {
  return EncodeJpeg(MakePicture(50, 34, 3), settings);
}

TEST(ParseFrame, ReadsWhatTheEncoderWrote) {
  const std::string jpeg = Good();
  Frame frame;
  STOKER_ASSERT_OK_AND_ASSIGN(const bool ours, ParseFrame(BytesOf(jpeg), "p.jpg", frame));
  ASSERT_TRUE(ours);
  EXPECT_EQ(frame.width, 50);
  EXPECT_EQ(frame.height, 34);
  EXPECT_EQ(frame.num_components, 3);
  EXPECT_EQ(frame.restart_interval, 7);
  EXPECT_EQ(frame.mcus_across(), 4);  // of 16 x 8 pixels
  EXPECT_EQ(frame.mcus_down(), 5);
  EXPECT_EQ(frame.components[2].ac_code, 1);
  // The scan's header ends with the spectral selection and no approximation.
  EXPECT_EQ(jpeg.substr(frame.scan_at - 3, 3), FromHex("00 3f 00"));
  // T.81, K.1, at quality 90: 16 becomes round(16 * 0.2).
  EXPECT_EQ(frame.quants[0].divisors[0], 3);
}

TEST(ParseFrame, TurnsZigzagIntoRows) {
  std::string jpeg = FromHex("ffd8 ffdb 0043 00");
  for (int i = 0; i < 64; ++i) jpeg += static_cast<char>(i + 1);
  Frame frame;
  EXPECT_FALSE(ParseFrame(BytesOf(jpeg), "p.jpg", frame).ok());  // nothing comes after
  EXPECT_EQ(frame.quants[0].divisors[1], 2);
  EXPECT_EQ(frame.quants[0].divisors[8], 3);
  EXPECT_EQ(frame.quants[0].divisors[63], 64);
}

TEST(ParseFrame, EveryPrefixOfAHeaderIsAnError) {
  const std::string jpeg = Good();
  Frame frame;
  STOKER_ASSERT_OK_AND_ASSIGN(const bool ours, ParseFrame(BytesOf(jpeg), "p.jpg", frame));
  ASSERT_TRUE(ours);
  const size_t header = frame.scan_at;
  for (size_t n = 0; n < header; ++n) {
    const Result<bool> parsed = ParseFrame(BytesOf(jpeg.substr(0, n)), "p.jpg", frame);
    ASSERT_FALSE(parsed.ok()) << n << " bytes";
    EXPECT_THAT(parsed.status().message(), HasSubstr("p.jpg: byte "));
  }
}

struct BrokenCase {
  const char *name, *hex, *says;
};
void PrintTo(const BrokenCase& c, std::ostream* out) { *out << c.name; }
class BrokenFrame : public testing::TestWithParam<BrokenCase> {};

TEST_P(BrokenFrame, SaysWhatAndWhere) {
  const std::string jpeg = FromHex(GetParam().hex);
  Frame frame;
  const Result<bool> parsed = ParseFrame(BytesOf(jpeg), "p.jpg", frame);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.status().code(), StatusCode::kDataLoss);
  EXPECT_THAT(parsed.status().message(), HasSubstr(GetParam().says));
}

constexpr BrokenCase kBroken[] = {
    {"Empty", "", "byte 0: not a JPEG"},
    {"OtherFormat", "89504e47", "byte 0: not a JPEG"},
    {"NoMarker", "ffd8 1234", "byte 2: 0x12 where a marker"},
    {"OnlyFillBytes", "ffd8 ffffffff", "byte 6: the JPEG ends in its header"},
    {"SegmentLongerThanTheFile", "ffd8 ffe0 0010 00", "byte 4: a segment of 16 bytes"},
    {"SegmentShorterThanItsLength", "ffd8 ffe0 0001 00", "byte 4: a segment of 1 bytes"},
    {"QuantTableCut", "ffd8 ffdb 0005 00 0102", "the DQT segment ends too early"},
    {"CodesCut", "ffd8 ffc4 0005 00 0102", "the DHT segment ends too early"},
    {"MoreCodesThanBytes", "ffd8 ffc4 0014 00 02000000000000000000000000000000 01",
     "2 Huffman codes announced, 1 bytes left"},
    {"RestartIntervalCut", "ffd8 ffdd 0003 00", "the DRI segment ends too early"},
    {"FrameCut", "ffd8 ffc0 0007 08 0008 0008", "the SOF segment ends too early"},
    {"ComponentsCut", "ffd8 ffc0 000b 08 0008 0008 03 011100", "the SOF segment ends too early"},
    {"NoPixelsAcross", "ffd8 ffc0 000b 08 0008 0000 01 011100", "0 pixels wide"},
    {"ScanBeforeFrame", "ffd8 ffda 0008 01 0100 003f00", "SOS before SOF"},
    {"ScanCut", "ffd8 ffc0 000b 08 0008 0008 01 011100 ffda 0005 01 0100",
     "the SOS segment ends too early"},
};
INSTANTIATE_TEST_SUITE_P(ParseFrame, BrokenFrame, testing::ValuesIn(kBroken),
                         [](const auto& c) { return c.param.name; });

struct OtherCase {
  const char *name, *hex;
};
void PrintTo(const OtherCase& c, std::ostream* out) { *out << c.name; }
class OtherFrame : public testing::TestWithParam<OtherCase> {};

TEST_P(OtherFrame, IsForAnotherDecoder) {
  Frame frame;
  STOKER_ASSERT_OK_AND_ASSIGN(const bool ours,
                              ParseFrame(BytesOf(FromHex(GetParam().hex)), "p.jpg", frame));
  EXPECT_FALSE(ours);
}

constexpr OtherCase kOther[] = {
    {"Progressive", "ffd8 ffc2 000b 08 0008 0008 01 011100"},
    {"Arithmetic", "ffd8 ffc9 000b 08 0008 0008 01 011100"},
    {"TwelveBits", "ffd8 ffc1 000b 0c 0008 0008 01 011100"},
    {"HeightBehindThePixels", "ffd8 ffc0 000b 08 0000 0008 01 011100"},
    {"TwoComponents", "ffd8 ffc0 000e 08 0008 0008 02 011100 021100"},
    {"QuantTableOf16Bits", "ffd8 ffdb 0003 10"},
    {"QuantTableFour", "ffd8 ffdb 0003 04"},
    {"CodeOfClassTwo", "ffd8 ffc4 0014 20 01000000000000000000000000000000 00"},
    {"ChromaLargerThanLuma", "ffd8 ffc0 0011 08 0008 0008 03 011100 022200 032200"},
    {"ChromaOfTwoSizes", "ffd8 ffc0 0011 08 0008 0008 03 012200 022100 031200"},
    {"ThirdsOfLuma", "ffd8 ffc0 0011 08 0008 0008 03 013100 021100 031100"},
    {"QuartersDown", "ffd8 ffc0 0011 08 0008 0008 03 011400 021100 031100"},
    {"NoTables", "ffd8 ffc0 000b 08 0008 0008 01 011100 ffda 0008 01 0100 003f00"},
    {"OneScanOfThree",
     "ffd8 ffc0 0011 08 0008 0008 03 011100 021100 031100 ffda 0008 01 0100 "
     "003f00"},
    {"EndOfImage", "ffd8 ffd9 0000"},
};
INSTANTIATE_TEST_SUITE_P(ParseFrame, OtherFrame, testing::ValuesIn(kOther),
                         [](const auto& c) { return c.param.name; });

TEST(ParseFrame, LeavesRgbToOthersByAdobesMarkerOrByIds) {
  const std::string jpeg = Good({.colours = JpegColours::kRgb});
  Frame frame;
  STOKER_ASSERT_OK_AND_ASSIGN(const bool ours, ParseFrame(BytesOf(jpeg), "p.jpg", frame));
  EXPECT_FALSE(ours);
}

}  // namespace stoker::jpeg_baseline::frame_test
