#include "stoker/image/jpeg_baseline/scaled_inverse_dct.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/image/jpeg_baseline/testing.h"

namespace stoker::jpeg_baseline::scaled_inverse_dct_test {

constexpr ptrdiff_t kStride = 24;  // 16 bytes of samples at most, and a guard
constexpr uint8_t kCanary = 0xa5;
using Samples = std::array<uint8_t, 4 * kStride>;

class ScaledInverseDctOn : public OnInstructionSet {};

TEST_P(ScaledInverseDctOn, GivesTheBytesOfTheReferenceAndClearsTheValues) {
  Rng rng(/*seed=*/6, 0, 0, 0);
  int plain_groups = 0;
  for (int i = 0; i < 3000; ++i) {
    const int size = 1 << i % 3;
    const int magnitude = std::array{20, 200, 2000, 40000}[static_cast<size_t>(i % 4)];
    TestGroup group = RandomGroup(rng, size == 1 ? 0 : i % 64, magnitude);
    TestGroup copy = group;
    Samples want, got;
    want.fill(kCanary);
    got.fill(kCanary);
    const bool plain = ScaledInverseDctGroupReference(copy.values.data(), copy.divisors.data(),
                                                      size, want.data(), kStride);
    ASSERT_EQ(ScaledInverseDctGroup(group.values.data(), group.divisors.data(), size, got.data(),
                                    kStride),
              plain);
    ASSERT_EQ(got, want) << size << " x " << size << ", magnitude " << magnitude;
    ASSERT_TRUE(std::ranges::all_of(group.values, [](int16_t v) { return v == 0; }));
    plain_groups += plain ? 1 : 0;
  }
  EXPECT_GT(plain_groups, 1000);
  EXPECT_LT(plain_groups, 2000);
}

STOKER_ON_EVERY_INSTRUCTION_SET(ScaledInverseDctOn);

// By the definition (T.81, A.3.3), in floating point: the mean of the samples that a smaller one
// stands for, of the first block.
double MeanOfDefinition(const TestGroup& group, int size, int y, int x) {
  const auto basis = [&](int frequency, int at) {  // mean over 8 / size places
    double sum = 0;
    for (int i = 0; i < 8 / size; ++i) {
      sum += std::cos((2 * (at * 8 / size + i) + 1) * frequency * std::numbers::pi / 16);
    }
    return sum / (8.0 / size) * (frequency == 0 ? std::sqrt(0.5) : 1);
  };
  double sum = 0;
  for (int v = 0; v < 8; ++v) {
    for (int u = 0; u < 8; ++u) {
      const double value = group.values[v * kGroupRow + u] * group.divisors[v * 8 + u];
      sum += value * basis(v, y) * basis(u, x) / 4;
    }
  }
  return std::clamp(sum + 128, 0.0, 255.0);
}

TEST(ScaledInverseDctReference, GivesTheMeansOfTheSamplesThatThereWouldBe) {
  Rng rng(/*seed=*/7, 0, 0, 0);
  for (int i = 0; i < 300; ++i) {
    const int size = 1 << i % 3;
    const TestGroup group = RandomGroup(rng, size == 1 ? 0 : 63, 100);
    TestGroup copy = group;
    Samples out;
    EXPECT_TRUE(ScaledInverseDctGroupReference(copy.values.data(), copy.divisors.data(), size,
                                               out.data(), kStride));
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        ASSERT_NEAR(out[static_cast<size_t>(y * kStride + x)], MeanOfDefinition(group, size, y, x),
                    1)
            << "row " << y << ", column " << x << " of " << size << " x " << size;
      }
    }
  }
}

TEST(ScaledInverseDctReference, TellsOfValuesThatNoPictureGives) {
  for (const int size : {1, 2, 4}) {
    TestGroup group;
    group.divisors.fill(255);
    group.values[0] = 7;  // times 255 is more than 1536
    Samples out;
    EXPECT_FALSE(ScaledInverseDctGroupReference(group.values.data(), group.divisors.data(), size,
                                                out.data(), kStride));
  }
}

}  // namespace stoker::jpeg_baseline::scaled_inverse_dct_test
