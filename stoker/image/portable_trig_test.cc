#include "stoker/image/portable_trig.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace stoker::portable_trig_test {

TEST(SinPi, IsTheSineOfTheCLibraryWithinTheRoundingOfPi) {
  for (int i = -4000; i <= 4000; ++i) {
    const double x = i / 997.0;
    ASSERT_NEAR(SinPi(x), std::sin(std::numbers::pi * x), 5e-15) << x;
    ASSERT_NEAR(CosPi(x), std::cos(std::numbers::pi * x), 5e-15) << x;
  }
}

TEST(SinPi, IsExactAtMultiplesOfAHalf) {
  for (int turn = -3; turn <= 3; ++turn) {
    EXPECT_EQ(SinPi(2 * turn), 0);
    EXPECT_EQ(SinPi(2 * turn + 0.5), 1);
    EXPECT_EQ(SinPi(2 * turn - 0.5), -1);
    EXPECT_EQ(CosPi(2 * turn), 1);
    EXPECT_EQ(CosPi(2 * turn + 1), -1);
    EXPECT_EQ(CosPi(2 * turn + 0.5), 0);
  }
}

// Bits, not a tolerance: a run on another machine must compute the same.
TEST(SinPi, GivesTheseBitsEverywhere) {
  EXPECT_EQ(SinPi(1.0 / 6), 0x1.fffffffffffffp-2);
  EXPECT_EQ(SinPi(0.1), 0x1.3c6ef372fe94fp-2);
}

}  // namespace stoker::portable_trig_test
