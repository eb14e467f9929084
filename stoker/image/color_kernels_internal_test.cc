#include "stoker/image/color_kernels_internal.h"

#include "stoker/base/instruction_set_testing.h"
#include "stoker/image/testing_internal.h"

namespace stoker::color_kernels_internal_test {

constexpr size_t kGuard = 64;

// Three planes with guards after.
struct Planes {
  explicit Planes(size_t n) : r(n + kGuard, 201), g(r), b(r) {}
  ColorPlanes view() { return {r.data(), g.data(), b.data()}; }
  bool operator==(const Planes&) const = default;
  std::vector<uint8_t> r, g, b;
};

// Mixed colours, and greys, black, white and pure ones among them.
std::vector<uint8_t> Plane(uint32_t seed) {
  std::vector<uint8_t> plane = MixedBytes(4000, seed);
  for (size_t i = 0; i < plane.size(); i += 7) plane[i] = static_cast<uint8_t>(i);
  for (size_t i = 0; i < plane.size(); i += 11) plane[i] = seed % 2 ? 255 : 0;
  for (size_t i = 0; i < plane.size(); i += 13) plane[i] = 0;
  return plane;
}

class ColorOn : public OnInstructionSet {};
STOKER_ON_EVERY_INSTRUCTION_SET(ColorOn);

TEST_P(ColorOn, GivesTheBytesOfTheReference) {
  const std::vector<uint8_t> r = Plane(1), g = Plane(2), b = Plane(3);
  for (const int64_t n : {0, 1, 3, 4, 5, 15, 16, 17, 31, 33, 63, 64, 65, 3990}) {
    for (const size_t start : {0, 1, 3}) {
      SCOPED_TRACE(testing::Message() << "n=" << n << " start=" << start);
      const ConstColorPlanes in{r.data() + start, g.data() + start, b.data() + start};
      const auto length = static_cast<size_t>(n);
      for (const float factor : {0.0f, 0.3f, 1.0f, 1.77f, 40.0f}) {
        Planes want(length), got(length);
        ScaleBytesReference(in.r, n, factor, 12.3f, want.r.data());
        ScaleBytes(in.r, n, factor, 12.3f, got.r.data());
        GrayPixelsReference(in, n, want.g.data());
        GrayPixels(in, n, got.g.data());
        ASSERT_EQ(got, want) << factor;
        SaturatePixelsReference(in, n, factor, 1 - factor, want.view());
        SaturatePixels(in, n, factor, 1 - factor, got.view());
        ASSERT_EQ(got, want) << factor;
      }
      for (const float turns : {-0.5f, -0.1f, 0.0f, 1e-9f, -1e-9f, 0.25f, 0.5f}) {
        Planes want(length), got(length);
        TurnHuesReference(in, n, turns, want.view());
        TurnHues(in, n, turns, got.view());
        ASSERT_EQ(got, want) << turns;
      }
    }
  }
}

}  // namespace stoker::color_kernels_internal_test
