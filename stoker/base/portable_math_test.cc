#include "stoker/base/portable_math.h"

#include <cmath>
#include <limits>

#include "stoker/base/testing.h"

namespace stoker::portable_math_test {

TEST(PortableLog, IsTheLogarithm) {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    const double exact = std::log(x);
    ASSERT_NEAR(PortableLog(x), exact, 1e-15 + 1e-15 * std::fabs(exact)) << x;
  }
  EXPECT_EQ(PortableLog(1), 0);
}

TEST(PortableExp, IsTheExponential) {
  for (double x = -699.9; x < 700; x += 0.173) {
    ASSERT_NEAR(PortableExp(x) / std::exp(x), 1, 1e-14) << x;
  }
  EXPECT_EQ(PortableExp(0), 1);
}

TEST(PortableExp, EndsInZeroAndInfinity) {
  EXPECT_EQ(PortableExp(-701), 0);
  EXPECT_EQ(PortableExp(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(PortableExp(701), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(PortableExp(std::nan(""))));
}

TEST(PortableExp, UndoesTheLogarithm) {
  for (double x = 1e-200; x < 1e200; x *= 3.1) {
    ASSERT_NEAR(PortableExp(PortableLog(x)) / x, 1, 1e-12) << x;
  }
}

}  // namespace stoker::portable_math_test
