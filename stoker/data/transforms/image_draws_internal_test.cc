#include "stoker/data/transforms/image_draws_internal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace stoker::image_draws_internal_test {

constexpr int kSamples = 20000;

Rng StreamOf(int index) { return Rng(/*seed=*/1, 0, static_cast<uint64_t>(index), 1); }

// How evenly shares of 0..1 fall into ten parts. 9 degrees of freedom: 27.9 is exceeded once in
// 1000 (NIST/SEMATECH e-Handbook, 1.3.6.7.4); the seeds are fixed.
double ChiSquared(const std::vector<double>& shares) {
  std::array<double, 10> times{};
  for (const double share : shares) ++times[static_cast<size_t>(std::clamp(share * 10, 0.0, 9.0))];
  const double expected = static_cast<double>(shares.size()) / 10;
  double sum = 0;
  for (const double n : times) sum += (n - expected) * (n - expected) / expected;
  return sum;
}

// In an image so large that every window fits and rounding is small.
TEST(DrawResizedCrop, DrawsAreaAndLogarithmOfTheRatioAndPlaceEvenly) {
  const DrawRange area{0.08, 0.4}, ratio{0.75, 4.0 / 3};
  std::vector<double> areas, ratios, rows, columns;
  constexpr int64_t kSide = 10000;
  for (int i = 0; i < kSamples; ++i) {
    Rng rng = StreamOf(i);
    const CropWindow window = DrawResizedCrop(kSide, kSide, area, ratio, rng);
    const auto h = static_cast<double>(window.height), w = static_cast<double>(window.width);
    ASSERT_TRUE(window.y >= 0 && window.x >= 0 && window.y + window.height <= kSide &&
                window.x + window.width <= kSide);
    areas.push_back((h * w / (kSide * kSide) - area.low) / (area.high - area.low));
    ratios.push_back(std::log(w / h / ratio.low) / std::log(ratio.high / ratio.low));
    rows.push_back(static_cast<double>(window.y) / (kSide - h + 1));
    columns.push_back(static_cast<double>(window.x) / (kSide - w + 1));
  }
  for (const auto& shares : {areas, ratios, rows, columns}) EXPECT_LT(ChiSquared(shares), 27.9);
}

// Another order of the draws would change every run that is resumed with a newer version.
TEST(DrawResizedCrop, DrawsAreaThenRatioThenYThenX) {
  Rng rng = StreamOf(5), same = StreamOf(5);
  const CropWindow window = DrawResizedCrop(1000, 1000, {0.1, 0.2}, {1, 1.0001}, rng);
  const double area = (0.1 + 0.1 * same.UniformDouble()) * 1e6;
  same.UniformDouble();
  EXPECT_NEAR(static_cast<double>(window.height * window.width), area, 1000);
  EXPECT_EQ(window.y,
            static_cast<int64_t>(same.Below(1001 - static_cast<uint64_t>(window.height))));
  EXPECT_EQ(window.x, static_cast<int64_t>(same.Below(1001 - static_cast<uint64_t>(window.width))));
}

TEST(DrawResizedCrop, TriesTenTimesThenTakesTheMiddle) {
  for (int i = 0; i < 20; ++i) {
    Rng rng = StreamOf(i);
    // Of 10 x 1000 no share of 0.9 has a ratio of at most 4/3.
    const CropWindow wide = DrawResizedCrop(10, 1000, {0.9, 1}, {0.75, 4.0 / 3}, rng);
    EXPECT_EQ(wide.height, 10);
    EXPECT_EQ(wide.width, 13);
    EXPECT_EQ(wide.x, (1000 - 13) / 2);
    const CropWindow high = DrawResizedCrop(1000, 10, {0.9, 1}, {0.75, 4.0 / 3}, rng);
    EXPECT_EQ(high.width, 10);
    EXPECT_EQ(high.height, 13);
  }
  Rng rng = StreamOf(3), after = StreamOf(3);
  DrawResizedCrop(10, 1000, {0.9, 1}, {0.75, 4.0 / 3}, rng);
  for (int i = 0; i < 20; ++i) after.UniformDouble();
  EXPECT_EQ(rng.NextU32(), after.NextU32()) << "not ten times two draws";
}

TEST(DrawResizedCrop, TheWholeImageWhereItIsAskedFor) {
  Rng rng = StreamOf(1);
  const CropWindow window = DrawResizedCrop(40, 40, {1, 1}, {1, 1}, rng);
  EXPECT_EQ(window.height, 40);
  EXPECT_EQ(window.width, 40);
  const CropWindow pixel = DrawResizedCrop(1, 1, {0.08, 1}, {0.75, 4.0 / 3}, rng);
  EXPECT_EQ(pixel.height * pixel.width, 1);
}

TEST(DrawErasedWindow, IsSmallerThanTheImageAndOfTheSharesAskedFor) {
  int none = 0;
  double areas = 0;
  for (int i = 0; i < kSamples; ++i) {
    Rng rng = StreamOf(i);
    const auto window = DrawErasedWindow(100, 120, {0.02, 0.33}, {0.3, 3.3}, rng);
    if (!window) {
      ++none;
      continue;
    }
    ASSERT_TRUE(window->height < 100 && window->width < 120);
    ASSERT_TRUE(window->y >= 0 && window->x >= 0 && window->y + window->height <= 100 &&
                window->x + window->width <= 120);
    areas += static_cast<double>(window->height * window->width) / 12000;
  }
  EXPECT_EQ(none, 0);
  // Windows that do not fit are the large ones, so the mean lies below (0.02 + 0.33) / 2.
  EXPECT_NEAR(areas / kSamples, 0.17, 0.01);
  Rng rng = StreamOf(0);
  EXPECT_FALSE(DrawErasedWindow(1, 1, {0.5, 1}, {1, 1}, rng).has_value());
}

TEST(DrawAffine, StaysWithinItsRangesAndReachesTheirEnds) {
  const AffineRanges ranges{.degrees = {-30, 10},
                            .translate_x = 0.1,
                            .translate_y = 0.2,
                            .scale = {0.5, 1.5},
                            .shear_x = {-5, 5},
                            .shear_y = {0, 0}};
  AffineChange least, most;
  std::vector<double> degrees;
  for (int i = 0; i < kSamples; ++i) {
    Rng rng = StreamOf(i);
    const AffineChange change = DrawAffine(50, 100, ranges, rng);
    degrees.push_back((change.degrees + 30) / 40);
    ASSERT_EQ(change.translate_x, std::trunc(change.translate_x));
    least.translate_x = std::min(least.translate_x, change.translate_x);
    most.translate_x = std::max(most.translate_x, change.translate_x);
    most.translate_y = std::max(most.translate_y, change.translate_y);
    ASSERT_TRUE(change.scale >= 0.5 && change.scale < 1.5);
    ASSERT_TRUE(std::fabs(change.shear_x) <= 5 && change.shear_y == 0);
  }
  EXPECT_LT(ChiSquared(degrees), 27.9);
  EXPECT_EQ(least.translate_x, -10);
  EXPECT_EQ(most.translate_x, 10);
  EXPECT_EQ(most.translate_y, 10);
}

}  // namespace stoker::image_draws_internal_test
