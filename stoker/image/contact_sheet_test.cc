#include "stoker/image/contact_sheet.h"

#include "stoker/base/testing.h"

namespace stoker::contact_sheet_test {

using testing::ElementsAre;

Array Bytes(std::vector<uint8_t> values, Shape shape) {
  return Array::Of(std::span<const uint8_t>(values), std::move(shape));
}
Array Floats(std::vector<float> values, Shape shape) {
  return Array::Of(std::span<const float>(values), std::move(shape));
}

std::vector<uint8_t> PixelsOf(const Result<ContactSheet>& sheet) {
  EXPECT_THAT(sheet, IsOk());
  if (!sheet.ok()) return {};
  const auto values = sheet->pixels.values<uint8_t>();
  return {values.begin(), values.end()};
}

TEST(ContactSheet, ShowsBytesAsTheyAreWhereverTheChannelsStand) {
  const auto pixels = {1, 3, 5, 2, 4, 6};
  EXPECT_THAT(PixelsOf(MakeContactSheet({Bytes({1, 2, 3, 4, 5, 6}, {3, 1, 2})}, {})),
              testing::ElementsAreArray(pixels));
  EXPECT_THAT(PixelsOf(MakeContactSheet({Bytes({1, 3, 5, 2, 4, 6}, {2, 1, 3})}, {})),
              testing::ElementsAreArray(pixels));
  EXPECT_THAT(PixelsOf(MakeContactSheet({Bytes({7}, {1, 1, 1})}, {})), ElementsAre(7, 7, 7));
}

TEST(ContactSheet, TakesMeanAndStdBack) {
  const Array image = Floats({-2, 0.5, 2}, {3, 1, 1});
  EXPECT_THAT(PixelsOf(MakeContactSheet({image}, Denormalization{{0.5}, {0.25}})),
              ElementsAre(0, 159, 255));
  EXPECT_THAT(PixelsOf(MakeContactSheet({image}, Denormalization{{0.5, 0, 0}, {0.25, 1, 0.5}})),
              ElementsAre(0, 128, 255));
}

TEST(ContactSheet, StretchesOtherNumbersFromBlackToWhite) {
  EXPECT_THAT(PixelsOf(MakeContactSheet({Floats({-3, -2, 1}, {3, 1, 1})}, {})),
              ElementsAre(0, 64, 255));
  EXPECT_THAT(PixelsOf(MakeContactSheet({Floats({5, 5, 5}, {3, 1, 1})}, {})),
              ElementsAre(128, 128, 128));
  EXPECT_THAT(PixelsOf(MakeContactSheet({Floats({NAN, 0, 1}, {3, 1, 1})}, {})),
              ElementsAre(0, 0, 255));
}

TEST(ContactSheet, LaysPicturesOfDifferentSizesInRowsWithALineBetween) {
  const Result<ContactSheet> sheet = MakeContactSheet(
      {Bytes({1}, {1, 1, 1}), Bytes({2, 3}, {1, 1, 2}), Bytes({4, 5}, {1, 2, 1})}, {});
  STOKER_ASSERT_OK(sheet);
  EXPECT_EQ(sheet->columns, 2);
  ASSERT_EQ(sheet->pixels.shape(), (Shape{6, 6, 3}));
  const auto red = [&](size_t y, size_t x) {
    return sheet->pixels.values<uint8_t>()[(y * 6 + x) * 3];
  };
  EXPECT_EQ(red(0, 0), 1);
  EXPECT_EQ(red(0, 1), 128);
  EXPECT_EQ(red(0, 4), 2);
  EXPECT_EQ(red(0, 5), 3);
  EXPECT_EQ(red(4, 0), 4);
  EXPECT_EQ(red(5, 0), 5);
  EXPECT_EQ(red(5, 5), 128);
}

TEST(ContactSheet, RefusesWhatIsNoPicture) {
  EXPECT_THAT(MakeContactSheet({Bytes({1, 2}, {2})}, {}),
              FailsWith(StatusCode::kInvalidArgument, "uint8[2] is no picture"));
  EXPECT_THAT(MakeContactSheet({}, {}),
              FailsWith(StatusCode::kInvalidArgument, "there are no pictures"));
  const Array large = Array::Allocate(DType::kUInt8, {1, 1, 1 << 14});
  EXPECT_THAT(MakeContactSheet(std::vector<Array>(10'000, large), {}),
              FailsWith(StatusCode::kInvalidArgument, "too many for one sheet"));
}

}  // namespace stoker::contact_sheet_test
