#include "stoker/base/quantile_sketch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace stoker::quantile_sketch_test {

using testing::ElementsAre;

TEST(QuantileSketch, DividesFewValuesIntoEqualCounts) {
  QuantileSketch sketch;
  for (const double value : {7.0, 1.0, 5.0, 3.0, 8.0, 2.0, 6.0, 4.0}) sketch.Add(value);
  EXPECT_THAT(sketch.Dividers(4), ElementsAre(3, 5, 7));
  EXPECT_THAT(sketch.Dividers(1), ElementsAre());
  EXPECT_EQ(sketch.min(), 1);
  EXPECT_EQ(sketch.count(), 8);
}

TEST(QuantileSketch, IsExactForAsManyValuesAsItIsToldAndNoMore) {
  constexpr int kExact = 8;
  QuantileSketch sketch(kExact);
  for (int i = 0; i < kExact; ++i) sketch.Add(i);
  EXPECT_THAT(sketch.Dividers(kExact), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  sketch.Add(kExact);
  EXPECT_NE(sketch.Dividers(kExact + 1), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(QuantileSketch, RepeatsADividerWhereManyValuesAreEqual) {
  QuantileSketch sketch;
  for (int i = 0; i < 9; ++i) sketch.Add(i < 6 ? 0 : i);
  EXPECT_THAT(sketch.Dividers(3), ElementsAre(0, 6));
  EXPECT_THAT(sketch.Dividers(9), ElementsAre(0, 0, 0, 0, 0, 6, 7, 8));
}

// The numbers 0..n-1 in any order: the value at a rank is the rank, so that errors can be read off.
TEST(QuantileSketch, IsOffByAtMostItsBoundInEveryOrder) {
  constexpr size_t kExact = 256;
  constexpr int64_t kValues = 50'000, kParts = 20;
  const double levels = std::ceil(std::log2(static_cast<double>(kValues) / kExact));
  for (const int64_t step : {int64_t{1}, kValues - 1, int64_t{12'347}}) {  // rising, falling, mixed
    QuantileSketch sketch(kExact);
    for (int64_t i = 0; i < kValues; ++i) sketch.Add(static_cast<double>(i * step % kValues));
    const std::vector<double> dividers = sketch.Dividers(kParts);
    ASSERT_EQ(std::ssize(dividers), kParts - 1);
    for (int64_t part = 1; part < kParts; ++part) {
      EXPECT_NEAR(dividers[static_cast<size_t>(part - 1)],
                  static_cast<double>(kValues * part / kParts), levels * kValues / kExact)
          << "step " << step;
    }
    EXPECT_LE(sketch.bytes(), static_cast<int64_t>((levels + 2) * 2 * kExact * sizeof(double)));
    EXPECT_EQ(sketch.min(), 0);
  }
}

TEST(QuantileSketch, EqualCallsGiveEqualResults) {
  QuantileSketch one(64), other(64);
  for (int i = 0; i < 10'000; ++i) {
    const double value = std::fmod(i * 0.618, 1);
    one.Add(value);
    other.Add(value);
  }
  EXPECT_EQ(one.Dividers(100), other.Dividers(100));
}

}  // namespace stoker::quantile_sketch_test
