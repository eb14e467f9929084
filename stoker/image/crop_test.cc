#include "stoker/image/crop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace stoker::crop_test {

template <typename T>
std::vector<T> Crop(const std::vector<T>& in, const ImageShape& shape, const CropWindow& window,
                    T fill) {
  std::vector<T> out(static_cast<size_t>(shape.channels * window.height * window.width) + 1,
                     T{77});  // a guard after
  CropImage(reinterpret_cast<const std::byte*>(in.data()), shape, sizeof(T), window,
            reinterpret_cast<const std::byte*>(&fill), reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(out.back(), T{77}) << "written after the end";
  out.pop_back();
  return out;
}

// Pixel by pixel.
template <typename T>
std::vector<T> CropPlainly(const std::vector<T>& in, const ImageShape& shape,
                           const CropWindow& window, T fill) {
  std::vector<T> out;
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t y = window.y; y < window.y + window.height; ++y) {
      for (int64_t x = window.x; x < window.x + window.width; ++x) {
        const bool inside = y >= 0 && y < shape.height && x >= 0 && x < shape.width;
        out.push_back(inside ? in[static_cast<size_t>((c * shape.height + y) * shape.width + x)]
                             : fill);
      }
    }
  }
  return out;
}

TEST(CropImage, CutsTheMiddleOut) {
  const std::vector<uint8_t> in = {1, 2, 3,  //
                                   4, 5, 6,  //
                                   7, 8, 9};
  EXPECT_THAT(Crop<uint8_t>(in, {1, 3, 3}, {1, 1, 2, 2}, 0), testing::ElementsAre(5, 6, 8, 9));
}

TEST(CropImage, FillsWhatLiesOutside) {
  const std::vector<uint8_t> in = {1, 2,  //
                                   3, 4};
  EXPECT_THAT(Crop<uint8_t>(in, {1, 2, 2}, {-1, -1, 4, 4}, 9), testing::ElementsAre(9, 9, 9, 9,  //
                                                                                    9, 1, 2, 9,  //
                                                                                    9, 3, 4, 9,  //
                                                                                    9, 9, 9, 9));
}

template <typename T>
class CropImageOf : public testing::Test {};
using ValueTypes = testing::Types<uint8_t, uint16_t, float, double>;
TYPED_TEST_SUITE(CropImageOf, ValueTypes);

TYPED_TEST(CropImageOf, EveryWindowGivesWhatPixelByPixelGives) {
  const ImageShape shape{2, 4, 5};
  std::vector<TypeParam> in(static_cast<size_t>(shape.num_values()));
  std::iota(in.begin(), in.end(), TypeParam{1});
  for (int64_t y = -6; y <= 5; ++y) {
    for (int64_t x = -7; x <= 6; ++x) {
      for (const int64_t height : {0, 1, 3, 6}) {
        for (const int64_t width : {0, 1, 4, 8}) {
          const CropWindow window{y, x, height, width};
          SCOPED_TRACE(testing::Message() << y << ' ' << x << ' ' << height << ' ' << width);
          ASSERT_EQ(Crop(in, shape, window, TypeParam{99}),
                    CropPlainly(in, shape, window, TypeParam{99}));
        }
      }
    }
  }
}

}  // namespace stoker::crop_test
