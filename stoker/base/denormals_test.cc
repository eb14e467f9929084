#include "stoker/base/denormals.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

namespace stoker::denormals_test {

// Volatile, so that the CPU computes it and not the compiler.
float HalfOf(float value) {
  volatile float half = 0.5f;
  return value * half;
}

constexpr float kSmallest = std::numeric_limits<float>::min();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();

TEST(Denormals, AreZeroAsResultsAndAsOperandsWhereTheyAreFlushed) {
  const DenormalScope scope(/*flushed=*/true);
  EXPECT_EQ(std::bit_cast<uint32_t>(HalfOf(kSmallest)), 0u);
  EXPECT_EQ(std::bit_cast<uint32_t>(HalfOf(kDenormal * 4)), 0u);
}

TEST(Denormals, AreValuesWhereTheyAreKept) {
  const DenormalScope flushed(/*flushed=*/true);
  const DenormalScope kept(/*flushed=*/false);
  EXPECT_EQ(std::bit_cast<uint32_t>(HalfOf(kSmallest)), std::bit_cast<uint32_t>(kSmallest) / 2);
}

TEST(Denormals, AScopeGivesBackTheModeThatItFound) {
  const uint32_t before = FloatMode();
  {
    const DenormalScope flushed(/*flushed=*/true);
    const uint32_t within = FloatMode();
    EXPECT_NE(within, before);
    { const DenormalScope kept(/*flushed=*/false); }
    EXPECT_EQ(FloatMode(), within);
  }
  EXPECT_EQ(FloatMode(), before);
}

}  // namespace stoker::denormals_test
