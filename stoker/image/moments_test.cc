#include "stoker/image/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace stoker::moments_test {

// In long doubles, one after the other.
template <typename T>
Moments MomentsPlainly(const std::vector<T>& values) {
  long double sum = 0, squares = 0;
  for (const T value : values) sum += value;
  const long double mean = sum / values.size();
  for (const T value : values) squares += (value - mean) * (value - mean);
  return {static_cast<double>(mean), static_cast<double>(std::sqrt(squares / values.size()))};
}

TEST(MomentsOf, GivesMeanAndDeviationAtEveryLength) {
  for (const size_t n : {1, 2, 7, 8, 9, 15, 16, 17, 784, 65535, 65536, 65537, 200'000}) {
    std::vector<uint8_t> bytes(n);
    std::vector<float> floats(n);
    for (size_t i = 0; i < n; ++i) {
      bytes[i] = static_cast<uint8_t>(i * i * 7 + i);
      floats[i] = static_cast<float>(1000 + std::sin(i));  // a mean far from zero
    }
    const Moments of_bytes = MomentsOf(bytes.data(), n), of_floats = MomentsOf(floats.data(), n);
    const Moments bytes_want = MomentsPlainly(bytes), floats_want = MomentsPlainly(floats);
    EXPECT_NEAR(of_bytes.mean, bytes_want.mean, 1e-12 * 255) << n;
    EXPECT_NEAR(of_bytes.deviation, bytes_want.deviation, 1e-12 * 255) << n;
    EXPECT_NEAR(of_floats.mean, floats_want.mean, 1e-12 * 1000) << n;
    EXPECT_NEAR(of_floats.deviation, floats_want.deviation, 1e-10) << n;
  }
}

TEST(MomentsOf, HoldsTheLargestSums) {
  const std::vector<uint8_t> white(1 << 20, 255);
  EXPECT_EQ(MomentsOf(white.data(), white.size()).mean, 255);
  EXPECT_EQ(MomentsOf(white.data(), white.size()).deviation, 0);
}

TEST(MomentsOf, IsZeroOfNothingAndNanWhereOneIsAmongTheValues) {
  EXPECT_EQ(MomentsOf(static_cast<const float*>(nullptr), 0).deviation, 0);
  EXPECT_EQ(MomentsOf(static_cast<const uint8_t*>(nullptr), 0).mean, 0);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const std::vector<float> values = {1, bad, 2};
    EXPECT_TRUE(std::isnan(MomentsOf(values.data(), 3).deviation));
  }
}

}  // namespace stoker::moments_test
