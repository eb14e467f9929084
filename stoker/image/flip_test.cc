#include "stoker/image/flip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace stoker::flip_test {

using Flip = void (*)(const std::byte*, const ImageShape&, size_t, std::byte*);

template <typename T>
std::vector<T> Flipped(Flip flip, const std::vector<T>& in, const ImageShape& shape) {
  std::vector<T> out(in.size() + 1, T{77});  // a guard after
  flip(reinterpret_cast<const std::byte*>(in.data()), shape, sizeof(T),
       reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(out.back(), T{77}) << "written after the end";
  out.pop_back();
  return out;
}

template <typename T>
std::vector<T> FlippedInPlace(Flip flip, std::vector<T> image, const ImageShape& shape) {
  auto* bytes = reinterpret_cast<std::byte*>(image.data());
  flip(bytes, shape, sizeof(T), bytes);
  return image;
}

// Pixel by pixel.
template <typename T>
std::vector<T> FlippedPlainly(bool horizontally, const std::vector<T>& in,
                              const ImageShape& shape) {
  std::vector<T> out;
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t y = 0; y < shape.height; ++y) {
      for (int64_t x = 0; x < shape.width; ++x) {
        const int64_t from_y = horizontally ? y : shape.height - 1 - y;
        const int64_t from_x = horizontally ? shape.width - 1 - x : x;
        out.push_back(in[static_cast<size_t>((c * shape.height + from_y) * shape.width + from_x)]);
      }
    }
  }
  return out;
}

TEST(Flip, MirrorsASmallImage) {
  const std::vector<uint8_t> in = {1, 2, 3,  //
                                   4, 5, 6};
  EXPECT_THAT(Flipped(FlipHorizontally, in, {1, 2, 3}), testing::ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(Flipped(FlipVertically, in, {1, 2, 3}), testing::ElementsAre(4, 5, 6, 1, 2, 3));
}

template <typename T>
class FlipOf : public testing::Test {};
using ValueTypes = testing::Types<uint8_t, uint16_t, float, double>;
TYPED_TEST_SUITE(FlipOf, ValueTypes);

// Widths on both sides of the 4 and 8 bytes that are turned at once.
TYPED_TEST(FlipOf, EveryShapeGivesWhatPixelByPixelGives) {
  for (const int64_t channels : {1, 3}) {
    for (const int64_t height : {0, 1, 2, 3}) {
      for (int64_t width = 0; width <= 35; ++width) {
        SCOPED_TRACE(testing::Message() << channels << 'x' << height << 'x' << width);
        const ImageShape shape{channels, height, width};
        std::vector<TypeParam> in(static_cast<size_t>(shape.num_values()));
        std::iota(in.begin(), in.end(), TypeParam{1});
        const auto horizontally = FlippedPlainly(true, in, shape);
        const auto vertically = FlippedPlainly(false, in, shape);
        ASSERT_EQ(Flipped(FlipHorizontally, in, shape), horizontally);
        ASSERT_EQ(FlippedInPlace(FlipHorizontally, in, shape), horizontally);
        ASSERT_EQ(Flipped(FlipVertically, in, shape), vertically);
        ASSERT_EQ(FlippedInPlace(FlipVertically, in, shape), vertically);
      }
    }
  }
}

}  // namespace stoker::flip_test
