#include "stoker/train/kernels/norm_relu_pool_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/random.h"

namespace stoker::norm_relu_pool_kernel_test {

constexpr float kCanary = -123456.0f;
constexpr size_t kGuard = 64;  // values: four of the widest vectors

// Channels around every number of lanes; sizes odd and even, and more pixels than are summed in
// floats at a time.
std::vector<ImageExtent> Extents() {
  std::vector<ImageExtent> extents;
  for (const size_t channels : {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33}) {
    extents.push_back({.height = 5, .width = 7, .channels = channels});
  }
  for (const auto& [height, width] : {std::pair{2, 2}, {3, 2}, {2, 3}, {28, 28}, {1, 9}, {9, 1}}) {
    extents.push_back({static_cast<size_t>(height), static_cast<size_t>(width), 16});
  }
  return extents;
}

std::vector<float> Values(size_t n, uint64_t seed, double offset = 0) {
  Rng rng(seed, 0, 0, 0);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(rng.Normal() + offset);
  return values;
}

template <typename T>
std::vector<T> Guarded(size_t n) {
  return std::vector<T>(n + kGuard, static_cast<T>(kCanary));
}

template <typename T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

class NormReluPoolKernel : public OnInstructionSet {
 protected:
  template <typename Test>
  static void ForEachExtent(const Test& test) {
    for (const ImageExtent& extent : Extents()) {
      SCOPED_TRACE(testing::Message()
                   << extent.height << " x " << extent.width << " x " << extent.channels);
      test(extent);
    }
  }
};

struct Forwarded {
  explicit Forwarded(size_t n)
      : pooled(Guarded<float>(n)), peak(Guarded<float>(n)), choice(n + kGuard, 77) {}
  std::vector<float> pooled, peak;
  std::vector<PoolChoice> choice;
};

TEST_P(NormReluPoolKernel, ForwardGivesTheBitsOfTheReference) {
  ForEachExtent([](const ImageExtent& extent) {
    auto x = Values(extent.pixels() * extent.channels, 1);
    x[0] = std::numeric_limits<float>::quiet_NaN();
    x[x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    const auto scale = Values(extent.channels, 2), shift = Values(extent.channels, 3);
    const size_t n = extent.windows() * extent.channels;
    Forwarded got(n), want(n);
    PoolForward(x.data(), extent, scale.data(), shift.data(), got.pooled.data(), got.peak.data(),
                got.choice.data());
    PoolForwardReference(x.data(), extent, 0, scale.data(), shift.data(), want.pooled.data(),
                         want.peak.data(), want.choice.data());
    EXPECT_TRUE(SameBits(got.pooled, want.pooled));
    EXPECT_TRUE(SameBits(got.peak, want.peak));
    EXPECT_EQ(got.choice, want.choice);
  });
}

TEST_P(NormReluPoolKernel, ForwardWithoutAGradientGivesTheSameValues) {
  ForEachExtent([](const ImageExtent& extent) {
    const auto x = Values(extent.pixels() * extent.channels, 1);
    const auto scale = Values(extent.channels, 2), shift = Values(extent.channels, 3);
    const size_t n = extent.windows() * extent.channels;
    Forwarded with(n), without(n);
    PoolForward(x.data(), extent, scale.data(), shift.data(), with.pooled.data(), with.peak.data(),
                with.choice.data());
    PoolForward(x.data(), extent, scale.data(), shift.data(), without.pooled.data(), nullptr,
                nullptr);
    EXPECT_TRUE(SameBits(with.pooled, without.pooled));
  });
}

TEST_P(NormReluPoolKernel, BackwardGivesTheBitsOfTheReference) {
  ForEachExtent([](const ImageExtent& extent) {
    const size_t n = extent.pixels() * extent.channels, pooled = extent.windows() * extent.channels;
    const auto x = Values(n, 1), grad = Values(pooled, 2);
    const auto a = Values(extent.channels, 3), b = Values(extent.channels, 4);
    const auto c = Values(extent.channels, 5);
    std::vector<PoolChoice> choice(pooled);
    for (size_t i = 0; i < pooled; ++i) choice[i] = static_cast<PoolChoice>(i % 5);
    auto got = Guarded<float>(n), want = Guarded<float>(n);
    PoolBackward(x.data(), grad.data(), choice.data(), extent, a.data(), b.data(), c.data(),
                 got.data());
    PoolBackwardReference(x.data(), grad.data(), choice.data(), extent, 0, a.data(), b.data(),
                          c.data(), want.data());
    EXPECT_TRUE(SameBits(got, want));
  });
}

// The references sum in doubles; floats lose a little in 128 additions.
void ExpectNear(const std::vector<double>& got, const std::vector<double>& want, double terms) {
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], 1e-6 * terms) << "channel " << i;
  }
}

TEST_P(NormReluPoolKernel, MomentsAreThoseOfTheReferenceAndAreAdded) {
  ForEachExtent([](const ImageExtent& extent) {
    const auto x = Values(extent.pixels() * extent.channels, 1, /*offset=*/100);
    const auto origin = Values(extent.channels, 2, /*offset=*/100);
    std::vector<double> sum(extent.channels, 5), squares(extent.channels, 7);
    auto want_sum = sum, want_squares = squares;
    AddMoments(x.data(), extent, origin.data(), sum.data(), squares.data());
    AddMomentsReference(x.data(), extent, 0, origin.data(), want_sum.data(), want_squares.data());
    ExpectNear(sum, want_sum, static_cast<double>(extent.pixels()));
    ExpectNear(squares, want_squares, 10 * static_cast<double>(extent.pixels()));
  });
}

TEST_P(NormReluPoolKernel, GradientSumsAreThoseOfTheReferenceAndAreAdded) {
  ForEachExtent([](const ImageExtent& extent) {
    const size_t n = extent.windows() * extent.channels;
    const auto grad = Values(n, 1), peak = Values(n, 2), mean = Values(extent.channels, 3);
    std::vector<PoolChoice> choice(n);
    for (size_t i = 0; i < n; ++i) choice[i] = static_cast<PoolChoice>((i * 7) % 5);
    std::vector<double> sum(extent.channels, 5), products(extent.channels, 7);
    auto want_sum = sum, want_products = products;
    AddGradientSums(grad.data(), peak.data(), choice.data(), extent, mean.data(), sum.data(),
                    products.data());
    AddGradientSumsReference(grad.data(), peak.data(), choice.data(), extent, 0, mean.data(),
                             want_sum.data(), want_products.data());
    ExpectNear(sum, want_sum, static_cast<double>(extent.windows()) + 1);
    ExpectNear(products, want_products, 10 * static_cast<double>(extent.windows()) + 1);
  });
}

STOKER_ON_EVERY_INSTRUCTION_SET(NormReluPoolKernel);

// One window whose answers can be seen: x * 2 - 3 is -1, 1, 7, 7.
TEST(NormReluPoolReference, TakesTheFirstOfTheLargestAndLetsOnlyPositiveOnesPass) {
  const ImageExtent extent{.height = 2, .width = 2, .channels = 1};
  const float x[] = {1, 2, 5, 5}, scale[] = {2}, shift[] = {-3};
  Forwarded got(1);
  PoolForwardReference(x, extent, 0, scale, shift, got.pooled.data(), got.peak.data(),
                       got.choice.data());
  EXPECT_EQ(got.pooled[0], 7);
  EXPECT_EQ(got.peak[0], 5);
  EXPECT_EQ(got.choice[0], 2);
  const float low[] = {-11};
  PoolForwardReference(x, extent, 0, scale, low, got.pooled.data(), got.peak.data(),
                       got.choice.data());
  EXPECT_EQ(got.pooled[0], 0);
  EXPECT_EQ(got.choice[0], kNothingPassed);
}

TEST(NormReluPoolReference, GivesTheGradientToTheChosenPixelAlone) {
  const ImageExtent extent{.height = 2, .width = 3, .channels = 1};
  const float x[] = {1, 2, 3, 4, 5, 6}, grad[] = {10}, a[] = {2}, b[] = {100}, c[] = {7};
  const PoolChoice choice[] = {3};
  float dx[6];
  PoolBackwardReference(x, grad, choice, extent, 0, a, b, c, dx);
  EXPECT_THAT(dx, testing::ElementsAre(107, 207, 307, 407, 527, 607));
}

}  // namespace stoker::norm_relu_pool_kernel_test
