#include "stoker/train/kernels/optimizer_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/random.h"

namespace stoker::optimizer_kernel_test {

constexpr float kCanary = -123456.0f;
constexpr size_t kGuard = 64;  // values: four of the widest vectors

std::vector<size_t> Lengths() {
  return {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 1023, 1024, 1025, 1040, 5000};
}

// Arrays that start off alignment, with a guard after.
struct Arrays {
  Arrays(size_t n, uint64_t seed) {
    Rng rng(seed, 0, 0, 0);
    for (std::vector<float>& values : all) {
      values.assign(n + 1 + kGuard, kCanary);
      for (size_t i = 0; i < n; ++i) values[i + 1] = static_cast<float>(rng.Normal());
    }
    for (size_t i = 0; i < n; ++i) all[3][i + 1] = std::abs(all[3][i + 1]);  // a mean of squares
  }
  float* p() { return all[0].data() + 1; }
  float* g() { return all[1].data() + 1; }
  float* m() { return all[2].data() + 1; }
  float* v() { return all[3].data() + 1; }

  std::vector<float> all[4];
};

bool SameBits(const Arrays& a, const Arrays& b) {
  for (size_t i = 0; i < std::size(a.all); ++i) {
    if (std::memcmp(a.all[i].data(), b.all[i].data(), a.all[i].size() * sizeof(float)) != 0) {
      return false;
    }
  }
  return true;
}

class OptimizerKernel : public OnInstructionSet {
 protected:
  // Both on the same arrays, of many lengths; they return what else must be equal.
  using Kernel = std::function<SquareSums(Arrays& arrays, size_t n)>;
  static void ExpectSameBits(const Kernel& kernel, const Kernel& reference) {
    for (const size_t n : Lengths()) {
      SCOPED_TRACE(n);
      Arrays got(n, 3), want(n, 3);
      const SquareSums got_sums = kernel(got, n), want_sums = reference(want, n);
      EXPECT_EQ(got_sums.first, want_sums.first);
      EXPECT_EQ(got_sums.second, want_sums.second);
      ASSERT_TRUE(SameBits(got, want));
    }
  }
};

TEST_P(OptimizerKernel, SumSquaresGivesTheBitsOfTheReference) {
  ExpectSameBits([](Arrays& a, size_t n) { return SumSquares(a.p(), a.g(), n); },
                 [](Arrays& a, size_t n) { return SumSquaresReference(a.p(), a.g(), n); });
}

TEST_P(OptimizerKernel, LambGivesTheBitsOfTheReference) {
  const LambConstants c{.beta1 = .9f,
                        .beta2 = .999f,
                        .correction1 = 5,
                        .correction2 = 300,
                        .eps = 1e-6f,
                        .weight_decay = .01f};
  ExpectSameBits(
      [&](Arrays& a, size_t n) {
        const SquareSums sums = LambDirections(a.p(), a.g(), a.m(), a.v(), n, c);
        SubtractScaled(a.p(), a.g(), n, .1f);
        return sums;
      },
      [&](Arrays& a, size_t n) {
        const SquareSums sums = LambDirectionsReference(a.p(), a.g(), a.m(), a.v(), n, c);
        SubtractScaledReference(a.p(), a.g(), n, .1f);
        return sums;
      });
}

TEST_P(OptimizerKernel, LarsGivesTheBitsOfTheReference) {
  const LarsConstants c{.lr = .1f, .momentum = .9f, .ratio = .3f, .weight_decay = .01f};
  ExpectSameBits(
      [&](Arrays& a, size_t n) { return LarsApply(a.p(), a.g(), a.m(), n, c), SquareSums(); },
      [&](Arrays& a, size_t n) {
        return LarsApplyReference(a.p(), a.g(), a.m(), n, c), SquareSums();
      });
}

TEST_P(OptimizerKernel, LionGivesTheBitsOfTheReferenceAlsoWhereThereIsNoSign) {
  const LionConstants c{.lr = .1f, .beta1 = .9f, .beta2 = .99f, .weight_decay = .01f};
  const auto with_oddities = [](Arrays& a, size_t n) {
    for (size_t i = 0; i < n; i += 5) a.g()[i] = a.m()[i] = 0;
    for (size_t i = 3; i < n; i += 7) a.m()[i] = std::numeric_limits<float>::infinity();
  };
  ExpectSameBits(
      [&](Arrays& a, size_t n) {
        with_oddities(a, n);
        return LionApply(a.p(), a.g(), a.m(), n, c), SquareSums();
      },
      [&](Arrays& a, size_t n) {
        with_oddities(a, n);
        return LionApplyReference(a.p(), a.g(), a.m(), n, c), SquareSums();
      });
}

TEST_P(OptimizerKernel, LionHidesNoNan) {
  std::vector<float> p(20, 1), g(20, std::nanf("")), m(20, 0);
  LionApply(p.data(), g.data(), m.data(), p.size(), {.lr = .1f, .beta1 = .9f, .beta2 = .99f});
  for (const float value : p) EXPECT_TRUE(std::isnan(value));
}

TEST_P(OptimizerKernel, RmspropGivesTheBitsOfTheReference) {
  const RmspropConstants c{
      .lr = .1f, .alpha = .99f, .eps = 1e-8f, .momentum = .9f, .weight_decay = .01f};
  ExpectSameBits(
      [&](Arrays& a, size_t n) {
        return RmspropApply(a.p(), a.g(), a.v(), a.m(), n, c), SquareSums();
      },
      [&](Arrays& a, size_t n) {
        return RmspropApplyReference(a.p(), a.g(), a.v(), a.m(), n, c), SquareSums();
      });
}

TEST_P(OptimizerKernel, FtrlGivesTheBitsOfTheReferenceAlsoOfWeightsOfZero) {
  const FtrlConstants c{.lr = .1f, .l1 = .5f, .l2 = .01f, .beta = 1, .initial = .1f};
  const auto with_zeros = [](Arrays& a, size_t n) {
    for (size_t i = 0; i < n; i += 3) a.p()[i] = 0;
    for (size_t i = 0; i < n; i += 6) a.m()[i] = 0;
    for (size_t i = 1; i < n; i += 5) a.g()[i] = 0;
  };
  ExpectSameBits(
      [&](Arrays& a, size_t n) {
        with_zeros(a, n);
        return FtrlApply(a.p(), a.g(), a.v(), a.m(), n, c), SquareSums();
      },
      [&](Arrays& a, size_t n) {
        with_zeros(a, n);
        return FtrlApplyReference(a.p(), a.g(), a.v(), a.m(), n, c), SquareSums();
      });
}

TEST_P(OptimizerKernel, FtrlHidesNoNan) {
  std::vector<float> p(20, 1), g(20, std::nanf("")), s(20, 1), z(20, 1);
  FtrlApply(p.data(), g.data(), s.data(), z.data(), p.size(), {.lr = .1f, .l1 = .1f});
  for (const float value : p) EXPECT_TRUE(std::isnan(value));
}

STOKER_ON_EVERY_INSTRUCTION_SET(OptimizerKernel);

TEST(SumSquares, IsExactWhereAllSumsAre) {
  const std::vector<float> ones(100'000, 1), twos(100'000, 2);
  const SquareSums sums = SumSquares(ones.data(), twos.data(), ones.size());
  EXPECT_EQ(sums.first, 100'000);
  EXPECT_EQ(sums.second, 400'000);
}

}  // namespace stoker::optimizer_kernel_test
