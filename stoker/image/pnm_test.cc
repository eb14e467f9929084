#include "stoker/image/pnm.h"

#include <string>

#include "stoker/base/testing.h"

namespace stoker::pnm_test {

using namespace std::string_literals;  // NOLINT: for texts with zero bytes

std::span<const std::byte> BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

Result<Array> Decode(std::string_view text) { return DecodePnm(BytesOf(text), "picture.pnm"); }

std::vector<int> Values(const Array& image) {
  const auto values = image.values<uint8_t>();
  return {values.begin(), values.end()};
}

TEST(DecodePnm, ReadsGreyPictures) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Decode("P5\n3 2\n255\n\x01\x02\x03\x04\x05\xff"));
  EXPECT_EQ(image.ToString(), "uint8[1, 2, 3]");
  EXPECT_THAT(Values(image), testing::ElementsAre(1, 2, 3, 4, 5, 255));
}

TEST(DecodePnm, PutsColoursIntoPlanes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Decode("P6 2 1 255\nRGBrgb"));
  EXPECT_EQ(image.shape(), (Shape{3, 1, 2}));
  EXPECT_THAT(Values(image), testing::ElementsAre('R', 'r', 'G', 'g', 'B', 'b'));
}

TEST(DecodePnm, SkipsComments) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image,
                              Decode("P5 # made by hand 7\n# 9 9\n1\t#\r1\n255 *"));
  EXPECT_THAT(Values(image), testing::ElementsAre('*'));
}

TEST(DecodePnm, TakesTheFirstOfSeveralPictures) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Decode("P5 1 1 255\nAP5 1 1 255\nB"));
  EXPECT_THAT(Values(image), testing::ElementsAre('A'));
}

TEST(DecodePnm, ScalesOtherRangesToBytes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array small, Decode("P5 4 1 3\n\0\1\2\3"s));
  EXPECT_THAT(Values(small), testing::ElementsAre(0, 85, 170, 255));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array wide,
                              Decode("P5 4 1 65535\n\0\0\x00\x80\x00\x81\xff\xff"s));
  EXPECT_THAT(Values(wide),
              testing::ElementsAre(0, 0, 1, 255));  // 128 is 0.498 of 257, 129 is 0.502
}

TEST(DecodePnm, EveryProperPrefixOfAGoodFileIsAnError) {
  const std::string good = "P6\n# x\n2 1\n255\nRGBrgb";
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_THAT(Decode(good.substr(0, n)), FailsWith(StatusCode::kDataLoss, "picture.pnm: byte "))
        << n;
  }
}

struct BrokenCase {
  const char* name;
  std::string bytes;
  StatusCode code;
  const char* says;
};
class PnmBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(PnmBroken, SaysWhatAndWhere) {
  EXPECT_THAT(Decode(GetParam().bytes), FailsWith(GetParam().code, GetParam().says));
}

const BrokenCase kBroken[] = {
    {"Empty", "", StatusCode::kDataLoss, "byte 0: not a PGM or PPM picture"},
    {"Png", "\x89PNG", StatusCode::kDataLoss, "byte 0: not a PGM or PPM picture"},
    {"Text", "P2 1 1 9 5", StatusCode::kUnimplemented,
     "P2 is a text or bitmap form of PNM; convert it to P5 or P6"},
    {"NoSpace", "P51 1 255\n*", StatusCode::kDataLoss, "byte 2: width expected"},
    {"NegativeWidth", "P5 -1 1 255\n*", StatusCode::kDataLoss, "byte 3: width expected"},
    {"ZeroHeight", "P5 1 0 255\n*", StatusCode::kDataLoss, "byte 5: height must be 1..2147483647"},
    {"HugeWidth", "P5 99999999999999999999 1 255\n*", StatusCode::kDataLoss,
     "byte 3: width must be 1..2147483647"},
    {"MaxvalTooLarge", "P5 1 1 65536\n*", StatusCode::kDataLoss, "byte 7: maxval must be 1..65535"},
    {"NothingAfterMaxval", "P5 1 1 255*", StatusCode::kDataLoss,
     "byte 10: one white space must follow maxval"},
    {"TooManyPixels", "P5 2147483647 2147483647 255\n*", StatusCode::kOutOfRange,
     "2147483647 x 2147483647 pixels are more than the 67108864 allowed; scale the picture down"},
    {"CutShort", "P5 2 2 255\nabc", StatusCode::kDataLoss,
     "byte 14: the file ends, but 2 x 2 pixels need 1 more bytes"},
    {"AboveMaxval", "P5 2 1 7\n\x07\x08", StatusCode::kDataLoss,
     "byte 10: a sample is above maxval 7"},
};
INSTANTIATE_TEST_SUITE_P(DecodePnm, PnmBroken, testing::ValuesIn(kBroken),
                         [](const auto& c) { return c.param.name; });

TEST(DecodePnm, RefusesMorePixelsThanItsLimit) {
  const std::string_view picture = "P5 2 2 255\nabcd";
  STOKER_EXPECT_OK(DecodePnm(BytesOf(picture), "p", {.max_pixels = 4}));
  EXPECT_THAT(DecodePnm(BytesOf(picture), "p", {.max_pixels = 3}),
              FailsWith(StatusCode::kOutOfRange, "p: 2 x 2 pixels are more than the 3 allowed"));
}

}  // namespace stoker::pnm_test
