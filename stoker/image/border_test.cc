#include "stoker/image/border.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace stoker::border_test {

std::vector<int> Padded(Border border, std::vector<int> in, int64_t by) {
  const auto n = static_cast<int64_t>(in.size());
  std::vector<int> out;
  for (int64_t i = -by; i < n + by; ++i)
    out.push_back(in[static_cast<size_t>(BorderPixel(border, i, n))]);
  return out;
}

// What numpy.pad([1, 2, 3], 4, mode) gives.
TEST(BorderPixel, IsThatOfNumpyPad) {
  using testing::ElementsAre;
  EXPECT_THAT(Padded(Border::kEdge, {1, 2, 3}, 4), ElementsAre(1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3));
  EXPECT_THAT(Padded(Border::kReflect, {1, 2, 3}, 4), ElementsAre(1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3));
  EXPECT_THAT(Padded(Border::kSymmetric, {1, 2, 3}, 4),
              ElementsAre(3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1));
}

TEST(BorderPixel, OfOnePixelIsThatPixel) {
  for (const Border border : {Border::kEdge, Border::kReflect, Border::kSymmetric})
    EXPECT_THAT(Padded(border, {7}, 2), testing::ElementsAre(7, 7, 7, 7, 7));
}

template <typename T>
class CropOverBorderOf : public testing::Test {};
using ValueTypes = testing::Types<uint8_t, uint16_t, float, double>;
TYPED_TEST_SUITE(CropOverBorderOf, ValueTypes);

TYPED_TEST(CropOverBorderOf, TakesEveryPixelFromWhereTheBorderSays) {
  const ImageShape shape{2, 3, 4};
  std::vector<TypeParam> in(24);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<TypeParam>(i + 1);
  for (const Border border : {Border::kEdge, Border::kReflect, Border::kSymmetric}) {
    for (const CropWindow& window : {CropWindow{-5, -9, 12, 20}, CropWindow{1, 2, 2, 1},
                                     CropWindow{7, 9, 1, 1}, CropWindow{0, 0, 0, 5}}) {
      const auto size = static_cast<size_t>(2 * window.height * window.width);
      std::vector<TypeParam> want, out(size + 1, TypeParam{77});  // a guard after
      for (int64_t c = 0; c < 2; ++c) {
        for (int64_t y = window.y; y < window.y + window.height; ++y) {
          for (int64_t x = window.x; x < window.x + window.width; ++x)
            want.push_back(in[static_cast<size_t>((c * 3 + BorderPixel(border, y, 3)) * 4 +
                                                  BorderPixel(border, x, 4))]);
        }
      }
      want.push_back(TypeParam{77});
      CropOverBorder(reinterpret_cast<const std::byte*>(in.data()), shape, sizeof(TypeParam),
                     window, border, reinterpret_cast<std::byte*>(out.data()));
      EXPECT_EQ(out, want);
    }
  }
}

}  // namespace stoker::border_test
