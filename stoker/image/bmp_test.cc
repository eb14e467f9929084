#include "stoker/image/bmp.h"

#include <filesystem>
#include <fstream>

#include "stoker/image/decode_testing.h"

namespace stoker::bmp_test {

using namespace std::string_literals;  // NOLINT: for texts with zero bytes

std::string Le(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i, value >>= 8) bytes += static_cast<char>(value);
  return bytes;
}

struct Bmp {
  int32_t width = 0;
  int32_t height = 0;  // negative: from the top
  int bits = 24;
  std::string pixels;
  uint32_t coding = 0;
  std::string palette = {};
  std::vector<uint32_t> masks = {};
  uint32_t header_size = 40;
  uint32_t colours_used = 0;
};

std::string Encode(const Bmp& bmp) {
  std::string info = Le(bmp.header_size, 4);
  if (bmp.header_size == 12) {
    info += Le(bmp.width, 2) + Le(bmp.height, 2) + Le(1, 2) + Le(bmp.bits, 2);
  } else {
    info += Le(static_cast<uint32_t>(bmp.width), 4) + Le(static_cast<uint32_t>(bmp.height), 4) +
            Le(1, 2) + Le(bmp.bits, 2) + Le(bmp.coding, 4) + Le(0, 12) + Le(bmp.colours_used, 4) +
            Le(0, 4);
  }
  for (const uint32_t mask : bmp.masks) info += Le(mask, 4);
  if (info.size() < bmp.header_size) info.resize(bmp.header_size);
  info += bmp.palette;
  const std::string file = "BM" + Le(0, 8) + Le(14 + info.size(), 4) + info + bmp.pixels;
  return file;
}

constexpr int kRgb[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};  // two rows of two pixels
const std::string kBgrFromBottom = "\x09\x08\x07\x0c\x0b\x0a\0\0\x03\x02\x01\x06\x05\x04\0\0"s;

std::vector<int> Decoded(const std::string& bmp, const DecodeOptions& options = {}) {
  const auto image = DecodeImage(BytesOf(bmp), "p.bmp", options);
  EXPECT_THAT(image, IsOk());
  if (!image.ok()) return {};
  const auto values = image->values<uint8_t>();
  return {values.begin(), values.end()};
}

TEST(DecodeBmp, Reads24BitsFromBottomAndFromTop) {
  EXPECT_THAT(Decoded(Encode({.width = 2, .height = 2, .pixels = kBgrFromBottom})),
              testing::ElementsAreArray(kRgb));
  const std::string from_top = kBgrFromBottom.substr(8) + kBgrFromBottom.substr(0, 8);
  EXPECT_THAT(Decoded(Encode({.width = 2, .height = -2, .pixels = from_top})),
              testing::ElementsAreArray(kRgb));
}

TEST(DecodeBmp, ReadsTheHeaderOfOs2) {
  EXPECT_THAT(
      Decoded(Encode({.width = 2, .height = 2, .pixels = kBgrFromBottom, .header_size = 12})),
      testing::ElementsAreArray(kRgb));
  EXPECT_THAT(Decoded(Encode({.width = 2,
                              .height = 1,
                              .bits = 1,
                              .pixels = "\x40\0\0\0"s,
                              .palette = "\1\2\3\4\5\6",
                              .header_size = 12})),
              testing::ElementsAre(3, 2, 1, 6, 5, 4));
}

TEST(DecodeBmp, LooksPalettesUpInEveryDepth) {
  const std::string palette = "\x03\x02\x01\0\x06\x05\x04\0\x09\x08\x07\0"s;
  const auto decode = [&](int bits, const std::string& row) {
    return Decoded(Encode({.width = 3,
                           .height = 1,
                           .bits = bits,
                           .pixels = row,
                           .palette = palette,
                           .colours_used = 3}));
  };
  EXPECT_THAT(decode(1, "\x40\0\0\0"s), testing::ElementsAre(1, 2, 3, 4, 5, 6, 1, 2, 3));
  EXPECT_THAT(decode(2, "\x18\0\0\0"s), testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(decode(4, "\x20\x10\0\0"s), testing::ElementsAre(7, 8, 9, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(decode(8, "\2\1\0\0"s), testing::ElementsAre(7, 8, 9, 4, 5, 6, 1, 2, 3));
}

TEST(DecodeBmp, AnIndexBeyondThePaletteIsBlack) {
  EXPECT_THAT(Decoded(Encode({.width = 2,
                              .height = 1,
                              .bits = 8,
                              .pixels = "\x00\x07\0\0"s,
                              .palette = "\x03\x02\x01\0"s,
                              .colours_used = 1})),
              testing::ElementsAre(1, 2, 3, 0, 0, 0));
}

TEST(DecodeBmp, Scales16BitsAsItsFieldsSay) {
  // 5 bits each: red 31, green 0, blue 16; and with masks 5, 6, 5: green 63, blue 1.
  EXPECT_THAT(
      Decoded(Encode({.width = 1, .height = 1, .bits = 16, .pixels = Le(31 << 10 | 16, 4)})),
      testing::ElementsAre(255, 0, 132));
  EXPECT_THAT(Decoded(Encode({.width = 1,
                              .height = 1,
                              .bits = 16,
                              .pixels = Le(63 << 5 | 1, 4),
                              .coding = 3,
                              .masks = {0xf800, 0x07e0, 0x001f}})),
              testing::ElementsAre(0, 255, 8));
}

TEST(DecodeBmp, Reads32BitsWithAndWithoutFields) {
  EXPECT_THAT(Decoded(Encode({.width = 1, .height = 1, .bits = 32, .pixels = Le(0x80010203, 4)})),
              testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(Decoded(Encode({.width = 1,
                              .height = 1,
                              .bits = 32,
                              .pixels = Le(0x3ffff801, 4),  // 10 bits each: 1023, 1022, 1
                              .coding = 3,
                              .masks = {0x3ff00000, 0x000ffc00, 0x000003ff}})),
              testing::ElementsAre(255, 255, 0));
}

TEST(DecodeBmp, LaysAlphaOverABackgroundWhereTheHeaderHasAMaskForIt) {
  const std::string bmp = Encode({.width = 1,
                                  .height = 1,
                                  .bits = 32,
                                  .pixels = Le(0x00010203, 4),
                                  .coding = 3,
                                  .masks = {0xff0000, 0xff00, 0xff, 0xff000000},
                                  .header_size = 108});
  EXPECT_THAT(Decoded(bmp), testing::ElementsAre(1, 2, 3));
  const DecodeOptions over{.background = {{{50, 60, 70}}}};
  EXPECT_THAT(Decoded(bmp, over), testing::ElementsAre(50, 60, 70));
  EXPECT_THAT(
      Decoded(Encode({.width = 1, .height = 1, .bits = 32, .pixels = Le(0x010203, 4)}), over),
      testing::ElementsAre(1, 2, 3));
}

const std::string kFourColours = "\0\0\0\0\x01\x01\x01\0\x02\x02\x02\0\x03\x03\x03\0"s;

TEST(DecodeBmp, UnpacksRunsLiteralsAndJumpsOf8Bits) {
  // Lower row: two of colour 1, literals 2 3 1 (padded); upper row: a jump of 3, one of colour 3.
  const std::string runs = "\2\1\0\3\2\3\1\0\0\0\0\2\3\0\1\3\0\1"s;
  const auto pixels = Decoded(Encode({.width = 5,
                                      .height = 2,
                                      .bits = 8,
                                      .pixels = runs,
                                      .coding = 1,
                                      .palette = kFourColours,
                                      .colours_used = 4}),
                              {.channels = ImageChannels::kGrey});
  EXPECT_THAT(pixels, testing::ElementsAre(0, 0, 0, 3, 0, 1, 1, 2, 3, 1));
}

TEST(DecodeBmp, UnpacksRunsAndLiteralsOf4Bits) {
  // Lower row: 1 2 1, literals 3 0 1 (2 bytes); upper row: ends at once.
  const std::string runs = "\3\x12\0\3\x30\x10\0\0\0\1"s;
  const auto pixels = Decoded(Encode({.width = 6,
                                      .height = 2,
                                      .bits = 4,
                                      .pixels = runs,
                                      .coding = 2,
                                      .palette = kFourColours,
                                      .colours_used = 4}),
                              {.channels = ImageChannels::kGrey});
  EXPECT_THAT(pixels, testing::ElementsAre(0, 0, 0, 0, 0, 0, 1, 2, 1, 3, 0, 1));
}

// Random codes of every kind, many of them beyond the edges.
std::string RandomRuns(int count) {
  std::string runs;
  for (int i = 0; i < count; ++i) {
    const uint32_t h = HashOf(static_cast<uint32_t>(i), 3, 9);
    const int n = static_cast<int>(h % 13);
    switch (h >> 8 & 7) {
      case 0: runs += "\0\0"s; break;
      case 1: runs += "\0\2"s + Le(h >> 16 & 3, 1) + Le(h >> 20 & 1, 1); break;
      case 2: runs += Le(0, 1) + "\4"s + Le(h, 4); break;
      default: runs += Le(static_cast<uint64_t>(n) + 1, 1) + Le(h >> 12 & 255, 1);
    }
  }
  return runs + "\0\1"s;
}

TEST(DecodeBmp, ARegionIsACropOfTheWholeInEveryDepthAndCoding) {
  std::string palette;
  for (uint32_t i = 0; i < 256; ++i) palette += Le(HashOf(i, 1, 1) & 0xffffff, 4);
  for (const int bits : {1, 2, 4, 8, 16, 24, 32}) {
    for (const int height : {19, -19}) {
      Bmp bmp{.width = 37, .height = height, .bits = bits};
      const int stride = (37 * bits + 31) / 32 * 4;
      for (int i = 0; i < stride * 19; ++i)
        bmp.pixels += Le(HashOf(static_cast<uint32_t>(i), 7, 7) & 255, 1);
      if (bits <= 8) bmp.palette = palette.substr(0, size_t{4} << bits);
      ExpectEveryRegionIsACrop(Encode(bmp));
      if (HasFatalFailure()) FAIL() << bits << " bits, height " << height;
    }
  }
  for (const uint32_t coding : {1u, 2u}) {
    const int bits = coding == 1 ? 8 : 4;
    ExpectEveryRegionIsACrop(Encode({.width = 37,
                                     .height = 19,
                                     .bits = bits,
                                     .pixels = RandomRuns(300),
                                     .coding = coding,
                                     .palette = palette.substr(0, size_t{4} << bits)}));
  }
}

TEST(DecodeBmp, GivesWhatGdkPixbufMadeOfItsOwnTestPicture) {
  const std::string path =
      "/usr/libexec/installed-tests/gdk-pixbuf/test-images/reftests/mandatory-bitmasks.bmp";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "Debian's gdk-pixbuf-tests is not installed";
  const auto read = [](const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  EXPECT_EQ(Decoded(read(path)), Decoded(read(path + ".ref.png")));
}

TEST(DecodeBmp, EveryProperPrefixOfAGoodFileIsAnError) {
  const std::string plain =
      Encode({.width = 3, .height = 2, .bits = 24, .pixels = std::string(24, 'x')});
  const std::string runs = Encode({.width = 2,
                                   .height = 2,
                                   .bits = 8,
                                   .pixels = "\2\1\0\0\0\2\0\0\1\2\0\1"s,
                                   .coding = 1,
                                   .palette = kFourColours,
                                   .colours_used = 4});
  for (const std::string& good : {plain, runs}) {
    STOKER_EXPECT_OK(DecodeImage(BytesOf(good), "p.bmp"));
    const size_t padding = good == plain ? 3 : 0;  // of the last row: it may be missing
    for (size_t n = 0; n + padding < good.size(); ++n) {
      EXPECT_THAT(DecodeImage(BytesOf(good.substr(0, n)), "p.bmp"),
                  FailsWith(StatusCode::kDataLoss, "p.bmp: byte "))
          << n << " of " << good.size();
    }
  }
}

struct BrokenCase {
  const char* name;
  Bmp bmp;
  StatusCode code;
  const char* says;
};
void PrintTo(const BrokenCase& c, std::ostream* out) { *out << c.name; }
class BmpBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(BmpBroken, SaysWhatAndWhere) {
  EXPECT_THAT(DecodeImage(BytesOf(Encode(GetParam().bmp)), "p.bmp"),
              FailsWith(GetParam().code, GetParam().says));
}

const BrokenCase kBroken[] = {
    {"HeaderSize",
     {.width = 1, .height = 1, .pixels = "abcd", .header_size = 39},
     StatusCode::kDataLoss,
     "p.bmp: byte 14: an information header of 39 bytes (12 and 40 to 124 are known)"},
    {"NoWidth",
     {.width = 0, .height = 1, .pixels = "abcd"},
     StatusCode::kDataLoss,
     "byte 18: 0 x 1 pixels"},
    {"NegativeWidth",
     {.width = -3, .height = 1, .pixels = "abcd"},
     StatusCode::kDataLoss,
     "-3 x 1 pixels"},
    {"LeastHeight",
     {.width = 1, .height = INT32_MIN, .pixels = "abcd"},
     StatusCode::kOutOfRange,
     "1 x 2147483648 pixels are more than the 67108864 allowed"},
    {"Bomb",
     {.width = 64250, .height = 64250, .pixels = "abcd"},
     StatusCode::kOutOfRange,
     "64250 x 64250 pixels are more than the 67108864 allowed"},
    {"NoPalette",
     {.width = 1, .height = 1, .bits = 8, .pixels = "abcd"},
     StatusCode::kDataLoss,
     "byte 10: the pixels begin at byte 54, and a palette for 8 bits a pixel should precede them "
     "from byte 54 on: there is none; the BMP is damaged"},
    {"LessThanOneColour",
     {.width = 1, .height = 1, .bits = 1, .pixels = "abcd", .palette = "\1\2"},
     StatusCode::kDataLoss,
     "byte 10: the pixels begin at byte 56, and a palette for 1 bits a pixel should precede them "
     "from byte 54 on: there is none"},
    {"Depth",
     {.width = 1, .height = 1, .bits = 7, .pixels = "abcd"},
     StatusCode::kDataLoss,
     "byte 28: 7 bits a pixel"},
    {"Coding",
     {.width = 1, .height = 1, .pixels = "abcd", .coding = 9},
     StatusCode::kDataLoss,
     "byte 30: coding 9"},
    {"JpegInside",
     {.width = 1, .height = 1, .pixels = "abcd", .coding = 4},
     StatusCode::kUnimplemented,
     "byte 30: a BMP with a JPEG inside"},
    {"PngInside",
     {.width = 1, .height = 1, .pixels = "abcd", .coding = 5},
     StatusCode::kUnimplemented,
     "a PNG inside"},
    {"Cmyk",
     {.width = 1, .height = 1, .pixels = "abcd", .coding = 11},
     StatusCode::kUnimplemented,
     "CMYK colours"},
    {"FieldsOf24Bits",
     {.width = 1, .height = 1, .pixels = "abcd", .coding = 3},
     StatusCode::kDataLoss,
     "bit fields in pixels of 24 bits"},
    {"MaskWithAHole",
     {.width = 1,
      .height = 1,
      .bits = 32,
      .pixels = "abcd",
      .coding = 3,
      .masks = {0xff00ff, 0, 0}},
     StatusCode::kDataLoss,
     "byte 54: the mask 0x00ff00ff of a channel"},
    {"MaskTooWide",
     {.width = 1, .height = 1, .bits = 16, .pixels = "abcd", .coding = 3, .masks = {1, 0x10000, 0}},
     StatusCode::kDataLoss,
     "byte 58: the mask 0x00010000 of a channel"},
    {"RunsOf4BitsIn8",
     {.width = 1, .height = 1, .bits = 8, .pixels = "abcd", .coding = 2},
     StatusCode::kDataLoss,
     "run-length coding 2 of 8 bits a pixel"},
    {"RunsFromTheTop",
     {.width = 1, .height = -1, .bits = 8, .pixels = "abcd", .coding = 1},
     StatusCode::kDataLoss,
     "a run-length coded picture from the top"},
    {"CutShort",
     {.width = 2, .height = 2, .pixels = "abcdefgh"},
     StatusCode::kDataLoss,
     "byte 62: the file ends, but 2 x 2 pixels from byte 54 on need 6 more bytes; it was cut "
     "short"},
};
INSTANTIATE_TEST_SUITE_P(DecodeBmp, BmpBroken, testing::ValuesIn(kBroken),
                         [](const auto& c) { return c.param.name; });

}  // namespace stoker::bmp_test
