#include "stoker/base/permutation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "stoker/base/feistel_lanes_internal.h"
#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/permuted_index.h"
#include "stoker/base/testing.h"

namespace stoker::permutation_test {

std::vector<int64_t> Order(const IndexPermutation& permutation) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < permutation.size(); ++i) order.push_back(permutation(i));
  return order;
}

std::vector<int64_t> Order(int64_t n, uint64_t seed, uint64_t epoch = 0, uint64_t stage = 0) {
  return Order(IndexPermutation(n, seed, epoch, stage));
}

TEST(PermutedIndex, IsThatOfTheWholePermutationAtEveryPosition) {
  std::vector<int64_t> sizes = {511, 512, 1000, 1023, 1024, 1025, 65'536, 65'537};
  for (int64_t n = 1; n <= 130; ++n) sizes.push_back(n);
  for (const int64_t n : sizes) {
    for (const uint64_t seed : {1, 2, 3}) {
      const IndexPermutation whole(n, seed, /*epoch=*/seed + 7, /*stage=*/5);
      for (int64_t i = 0; i<n; i += n> 1024 ? 7919 : 1)
        ASSERT_EQ(PermutedIndex(n, seed, seed + 7, 5, i), whole(i)) << n << " at " << i;
    }
  }
}

// Chi-square of counts that should be equal, as standard deviations above its mean (degrees of
// freedom d: mean d, variance 2d).
double ChiSquareExcess(const std::vector<int64_t>& counts) {
  int64_t total = 0;
  for (const int64_t count : counts) total += count;
  const double wanted = static_cast<double>(total) / static_cast<double>(counts.size());
  double chi_square = 0;
  for (const int64_t count : counts) {
    const double difference = static_cast<double>(count) - wanted;
    chi_square += difference * difference / wanted;
  }
  const auto freedom = static_cast<double>(counts.size() - 1);
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

// Chi-square of how often three different indices below n fell into each triple of eight parts,
// against how many such triples of indices there are, as standard deviations above its mean.
double TripleExcess(const std::vector<int64_t>& counts,
                    const std::function<int64_t(int64_t)>& part_of, int64_t n) {
  std::array<double, 8> sizes{};
  for (int64_t i = 0; i < n; ++i) ++sizes[static_cast<size_t>(part_of(i))];
  const double seen = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0L));
  const auto all = static_cast<double>(n);
  double chi_square = 0;
  int freedom = -1;
  for (size_t cell = 0; cell < counts.size(); ++cell) {
    const size_t a = cell / 64, b = cell / 8 % 8, c = cell % 8;
    const double triples =
        sizes[a] * (sizes[b] - (b == a ? 1 : 0)) * (sizes[c] - (c == a ? 1 : 0) - (c == b ? 1 : 0));
    const double wanted = seen * triples / (all * (all - 1) * (all - 2));
    if (triples <= 0) {
      EXPECT_EQ(counts[cell], 0);
      continue;
    }
    ++freedom;
    chi_square += (static_cast<double>(counts[cell]) - wanted) *
                  (static_cast<double>(counts[cell]) - wanted) / wanted;
  }
  return (chi_square - freedom) / std::sqrt(2.0 * freedom);
}

TEST(IndexPermutation, IsABijectionForEverySizeUpTo2000) {
  for (int64_t n = 0; n <= 2000; ++n) {
    std::vector<int64_t> order = Order(n, /*seed=*/7, /*epoch=*/static_cast<uint64_t>(n % 3));
    std::sort(order.begin(), order.end());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i) << "n=" << n;
  }
}

TEST(IndexPermutation, IsABijectionAroundPowersOfTwo) {
  for (const int64_t n : {65'535, 65'536, 65'537, 131'071, 131'072, 131'073, 1'000'000}) {
    std::vector<bool> seen(static_cast<size_t>(n));
    for (const int64_t index : Order(n, /*seed=*/3)) {
      ASSERT_TRUE(index >= 0 && index < n) << "n=" << n;
      ASSERT_FALSE(seen[static_cast<size_t>(index)]) << "n=" << n << ", twice: " << index;
      seen[static_cast<size_t>(index)] = true;
    }
  }
}

TEST(IndexPermutation, InverseUndoesItAtEverySize) {
  for (const int64_t n :
       {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{1000}, int64_t{60'000}, int64_t{1'000'000'000},
        (int64_t{1} << 40) + 1, int64_t{1} << 62, INT64_MAX}) {
    const IndexPermutation permutation(n, 11, 12, 13);
    for (int64_t step = 0; step < 200; ++step) {
      const int64_t i = n / 200 * step + step % std::min<int64_t>(n, 200 - step);
      const int64_t index = permutation(i);
      ASSERT_GE(index, 0);
      ASSERT_LT(index, n);
      ASSERT_EQ(permutation.Inverse(index), i) << "n=" << n;
    }
  }
}

TEST(IndexPermutation, SeedEpochAndStageEachChangeTheOrder) {
  const std::vector<int64_t> order = Order(1000, 1, 2, 3);
  EXPECT_EQ(order, Order(1000, 1, 2, 3));
  const std::vector<std::vector<int64_t>> others = {Order(1000, 2, 2, 3),
                                                    Order(1000, 1, 3, 3),
                                                    Order(1000, 1, 2, 4),
                                                    Order(1000, 1 + (uint64_t{1} << 32), 2, 3),
                                                    Order(1000, 1, 2 + (uint64_t{1} << 32), 3),
                                                    Order(1000, 1, 2, 3 + (uint64_t{1} << 32))};
  for (const std::vector<int64_t>& other : others) {
    int64_t equal = 0;
    for (size_t i = 0; i < order.size(); ++i) equal += order[i] == other[i];
    EXPECT_LT(equal, 10);  // 1 is expected between two random orders
  }
}

// Positions and indices meet equally often over many seeds, as they would in true shuffles.
TEST(IndexPermutation, EveryIndexIsEquallyLikelyAtEveryPosition) {
  for (const int64_t n : {2, 3, 4, 5, 7, 10, 16, 17}) {
    std::vector<int64_t> counts(static_cast<size_t>(n * n));
    for (uint64_t seed = 0; seed < 40'000; ++seed) {
      const std::vector<int64_t> order = Order(n, seed);
      for (int64_t i = 0; i < n; ++i) ++counts[static_cast<size_t>(i * n + order[i])];
    }
    EXPECT_LT(ChiSquareExcess(counts), 5) << "n=" << n;
  }
}

TEST(IndexPermutation, EveryOrderOfFewIndicesIsEquallyLikely) {
  // 2! to 7! orders, each some 10 times or more.
  for (const int64_t n : {2, 3, 4, 5, 6, 7}) {
    int64_t orders = 1;
    for (int64_t i = 2; i <= n; ++i) orders *= i;
    std::map<std::vector<int64_t>, int64_t> times;
    for (uint64_t seed = 0; seed < 50'000; ++seed) ++times[Order(n, seed)];
    ASSERT_EQ(std::ssize(times), orders) << "n=" << n;
    std::vector<int64_t> counts;
    for (const auto& [order, count] : times) counts.push_back(count);
    EXPECT_LT(ChiSquareExcess(counts), 5) << "n=" << n;
  }
}

struct Cycles {
  int64_t count = 0, fixed = 0;
};

Cycles CyclesOf(const std::vector<int64_t>& order) {
  Cycles cycles;
  std::vector<bool> seen(order.size());
  for (size_t start = 0; start < order.size(); ++start) {
    if (seen[start]) continue;
    ++cycles.count;
    if (order[start] == static_cast<int64_t>(start)) ++cycles.fixed;
    for (size_t i = start; !seen[i]; i = static_cast<size_t>(order[i])) seen[i] = true;
  }
  return cycles;
}

// With c cycles an order of n is made of n - c exchanges of two. Among all orders of n, half are
// even, the number of cycles has the mean H = 1 + 1/2 + ... + 1/n and the variance
// H - (1 + 1/4 + ... + 1/n^2), and the number of indices that stay has the mean and variance 1.
TEST(IndexPermutation, HasTheParityAndTheCyclesOfRandomOrders) {
  struct Case {
    int64_t n;
    int seeds;
  };
  for (const auto& [n, seeds] :
       {Case{16, 20'000}, Case{17, 20'000}, Case{64, 10'000}, Case{1024, 2000}, Case{65'536, 200},
        Case{65'537, 200}, Case{100'000, 200}, Case{131'072, 200}}) {
    double even = 0, cycles = 0, fixed = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      const IndexPermutation permutation(n, static_cast<uint64_t>(seed), 3, 4);
      std::vector<int64_t> order(static_cast<size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      permutation.Map(order);
      const Cycles found = CyclesOf(order);
      even += (n - found.count) % 2 == 0 ? 1 : 0;
      cycles += static_cast<double>(found.count);
      fixed += static_cast<double>(found.fixed);
    }
    double mean = 0, variance = 0;
    for (int64_t i = 1; i <= n; ++i) {
      const double reciprocal = 1.0 / static_cast<double>(i);
      mean += reciprocal;
      variance += reciprocal - reciprocal * reciprocal;
    }
    constexpr double kDeviations = 5;
    const double spread = kDeviations / std::sqrt(seeds);
    EXPECT_NEAR(even / seeds, 0.5, 0.5 * spread) << "n=" << n;
    EXPECT_NEAR(cycles / seeds, mean, std::sqrt(variance) * spread) << "n=" << n;
    EXPECT_NEAR(fixed / seeds, 1, spread) << "n=" << n;
  }
}

// Where three positions go, in eighths of the range and in their lowest bits: positions that lie
// side by side, that differ only in the upper half of their bits, and that lie anywhere.
TEST(IndexPermutation, TriplesOfPositionsGoAnywhereTogether) {
  constexpr int kSeeds = 10'000;
  constexpr size_t kParts = 8;
  for (const int64_t n : {7, 16, 100, 1024, 65'537, 131'072, 1'281'167}) {
    const std::array<std::array<int64_t, 3>, 4> triples = {
        {{0, 1, 2}, {n - 3, n - 2, n - 1}, {0, n / 4, n / 2}, {1, n / 3, n - 1}}};
    std::array<std::vector<int64_t>, 4> high, low;
    for (auto& counts : high) counts.resize(kParts * kParts * kParts);
    for (auto& counts : low) counts.resize(kParts * kParts * kParts);
    for (int seed = 0; seed < kSeeds; ++seed) {
      const IndexPermutation permutation(n, static_cast<uint64_t>(seed), 0, 0);
      for (size_t t = 0; t < triples.size(); ++t) {
        size_t high_cell = 0, low_cell = 0;
        for (const int64_t position : triples[t]) {
          const int64_t index = permutation(position);
          high_cell = high_cell * kParts + static_cast<size_t>(index * kParts / n);
          low_cell = low_cell * kParts + static_cast<size_t>(index) % kParts;
        }
        ++high[t][high_cell];
        ++low[t][low_cell];
      }
    }
    for (size_t t = 0; t < triples.size(); ++t) {
      SCOPED_TRACE(testing::Message() << "n=" << n << ", triple " << t);
      EXPECT_LT(TripleExcess(
                    high[t], [&](int64_t i) { return i * kParts / n; }, n),
                5);
      EXPECT_LT(TripleExcess(
                    low[t], [&](int64_t i) { return i % kParts; }, n),
                5);
    }
  }
}

// What one order looks like: neighbours are unrelated, and so are the low and the high parts.
TEST(IndexPermutation, NeighboursInTheOrderAreUnrelated) {
  constexpr int64_t kSize = 100'000;
  const std::vector<int64_t> order = Order(kSize, 5);
  std::vector<int64_t> pairs(20 * 20);
  std::vector<int64_t> steps(50);
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    ++pairs[static_cast<size_t>(order[i] * 20 / kSize * 20 + order[i + 1] * 20 / kSize)];
    ++steps[static_cast<size_t>((order[i + 1] - order[i] + kSize) % kSize * 50 / kSize)];
  }
  EXPECT_LT(ChiSquareExcess(pairs), 5);
  EXPECT_LT(ChiSquareExcess(steps), 5);
}

// Sizes just above a power of two walk the most; the order must not show it.
TEST(IndexPermutation, BatchesDrawEvenlyFromTheWholeRange) {
  for (const int64_t n : {60'000, 65'537, 1'281'167}) {
    const IndexPermutation permutation(n, 9, 0, 0);
    std::vector<int64_t> counts(100);
    for (int64_t i = 0; i < 20'000; ++i) {
      ++counts[static_cast<size_t>(permutation(i) * 100 / n)];
    }
    EXPECT_LT(ChiSquareExcess(counts), 5) << "n=" << n;
  }
}

class MapOn : public OnInstructionSet {};
STOKER_ON_EVERY_INSTRUCTION_SET(MapOn);

TEST_P(MapOn, GivesWhatOneCallForEachGivesAtEverySizeAndCount) {
  for (const int64_t n :
       {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{64}, int64_t{65}, int64_t{65'536},
        int64_t{65'537}, int64_t{131'072}, int64_t{1'000'000'000}, (int64_t{1} << 40) + 1,
        int64_t{1} << 62, INT64_MAX}) {
    const IndexPermutation permutation(n, 21, 22, 23);
    for (const int64_t count : {0, 1, 3, 4, 7, 8, 9, 31, 255, 256, 257, 1000}) {
      std::vector<int64_t> positions, want;
      for (int64_t i = 0; i < count; ++i) {
        positions.push_back(i % 2 == 0 ? i % n : n - 1 - i % n);
        want.push_back(permutation(positions.back()));
      }
      permutation.Map(positions);
      ASSERT_EQ(positions, want) << "n=" << n << ", " << count << " positions";
    }
  }
}

// Our own values: the order is part of a run's format, so a change here breaks every stored run.
TEST(IndexPermutation, KeepsItsGoldenOrder) {
  EXPECT_EQ(Order(10, 1, 0, 0), (std::vector<int64_t>{0, 1, 7, 3, 6, 5, 9, 2, 4, 8}));
  const auto first_of = [](int64_t n) {
    const IndexPermutation permutation(n, 42, 7, 3);
    return std::array<int64_t, 4>{permutation(0), permutation(1), permutation(n / 2),
                                  permutation(n - 1)};
  };
  EXPECT_EQ(first_of(60'000), (std::array<int64_t, 4>{15407, 11168, 29765, 38055}));
  EXPECT_EQ(first_of(1'000'000'000),
            (std::array<int64_t, 4>{164919042, 836799137, 647876732, 871165744}));
  EXPECT_EQ(first_of((int64_t{1} << 62) - 1),
            (std::array<int64_t, 4>{333111418481880063, 3728153552345449071, 3284036124999981963,
                                    287134796518620764}));
}

}  // namespace stoker::permutation_test
