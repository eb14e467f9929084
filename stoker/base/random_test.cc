#include "stoker/base/random.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "stoker/base/statistics.h"
#include "stoker/base/testing.h"

namespace stoker::random_test {

using Words = std::array<uint32_t, 4>;

Words FirstBlock(uint64_t seed, uint64_t epoch, uint64_t index, uint64_t stage) {
  Rng rng(seed, epoch, index, stage);
  Words words;
  for (uint32_t& word : words) word = rng.NextU32();
  return words;
}

// As standard deviations above the mean: d degrees of freedom have mean d and variance 2d.
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

// Random123, tests/kat_vectors: philox4x32, 10 rounds.
TEST(Philox, GivesTheKnownAnswersOfRandom123) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// SplitMix64 from state 0 (https://prng.di.unimi.it/splitmix64.c) returns Mix64(k * golden ratio).
TEST(Mix64, GivesTheOutputsOfSplitMix64) {
  EXPECT_EQ(Mix64(0x9e3779b97f4a7c15), 0xe220a8397b1dcdaf);
  EXPECT_EQ(Mix64(2 * 0x9e3779b97f4a7c15), 0x6e789e6aa1b965f4);
  EXPECT_EQ(Mix64(3 * 0x9e3779b97f4a7c15), 0x06c45d188009454f);
}

// Our own values: what a sample draws is part of a run's format, so a change here breaks every
// stored run.
TEST(Rng, KeepsItsGoldenStreams) {
  EXPECT_EQ(FirstBlock(0, 0, 0, 0), (Words{0xfaadd8fd, 0xefa8ade3, 0xec257c5c, 0xce6bda56}));
  EXPECT_EQ(FirstBlock(1, 2, 3, 4), (Words{0x225fdfb2, 0x1ea49d31, 0xda427518, 0xad562ef0}));
  EXPECT_EQ(FirstBlock(~0ull, 0x1'0000'0002, 0x3'0000'0004, 1ull << 63),
            (Words{0x3a2ceb9d, 0xad13101b, 0x145a95bd, 0x85a98c7d}));
  Rng rng(42, 0, 17, 5);
  EXPECT_EQ(rng.NextU64(), 4519386725430201156u);
  EXPECT_EQ(rng.Below(1000), 613u);
  EXPECT_EQ(rng.Below(uint64_t{1} << 40), 1061959292946u);
  EXPECT_EQ(std::bit_cast<uint32_t>(rng.Uniform()), 1064436636u);
  EXPECT_EQ(std::bit_cast<uint64_t>(rng.UniformDouble()), 4600024773939787852u);
  EXPECT_EQ(std::bit_cast<uint64_t>(rng.Normal()), 13832114238471096466u);
  EXPECT_EQ(std::bit_cast<uint64_t>(rng.Normal()), 13827613883403527369u);
}

TEST(Rng, IsTheStreamThatItsHeaderDescribes) {
  const uint64_t seed = 0x0123456789abcdef, epoch = 0x1122334455667788, stage = 99,
                 index = 0xfedcba9876543210, golden = 0x9e3779b97f4a7c15;
  const uint64_t key = Mix64(Mix64(Mix64(seed + golden) + stage + golden) + 0x11223344 + golden);
  Rng rng(seed, epoch, index, stage);
  for (uint32_t block = 0; block < 3; ++block) {
    const Words wanted = Philox4x32({block, 0x76543210, 0xfedcba98, 0x55667788},
                                    {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
    for (const uint32_t word : wanted) ASSERT_EQ(rng.NextU32(), word);
  }
}

TEST(Rng, EveryBitOfSeedEpochIndexAndStageMatters) {
  std::set<Words> blocks = {FirstBlock(0, 0, 0, 0)};
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t one = uint64_t{1} << bit;
    blocks.insert(FirstBlock(one, 0, 0, 0));
    blocks.insert(FirstBlock(0, one, 0, 0));
    blocks.insert(FirstBlock(0, 0, one, 0));
    blocks.insert(FirstBlock(0, 0, 0, one));
  }
  EXPECT_EQ(blocks.size(), 1u + 4 * 64);
}

TEST(Rng, DrawsEveryByteEquallyOften) {
  Rng rng(1, 0, 0, 0);
  std::vector<int64_t> counts(256);
  for (int i = 0; i < 200'000; ++i) {
    const uint32_t word = rng.NextU32();
    for (int shift = 0; shift < 32; shift += 8) ++counts[word >> shift & 0xff];
  }
  EXPECT_LT(ChiSquareExcess(counts), 5);
}

// First draws of neighbouring samples, epochs, stages and seeds: pairs fall evenly into a grid.
TEST(Rng, StreamsOfNeighboursAreUnrelated) {
  constexpr uint64_t kGrid = 32;
  std::vector<int64_t> by_index(kGrid * kGrid), by_epoch = by_index, by_stage = by_index,
                                                by_seed = by_index;
  const auto cell = [](uint64_t seed, uint64_t epoch, uint64_t index, uint64_t stage) {
    return Rng(seed, epoch, index, stage).Below(kGrid);
  };
  for (uint64_t i = 0; i < 100'000; ++i) {
    const uint64_t here = cell(i, i, i, i) * kGrid;
    ++by_index[here + cell(i, i, i + 1, i)];
    ++by_epoch[here + cell(i, i + 1, i, i)];
    ++by_stage[here + cell(i, i, i, i + 1)];
    ++by_seed[here + cell(i + 1, i, i, i)];
  }
  EXPECT_LT(ChiSquareExcess(by_index), 5);
  EXPECT_LT(ChiSquareExcess(by_epoch), 5);
  EXPECT_LT(ChiSquareExcess(by_stage), 5);
  EXPECT_LT(ChiSquareExcess(by_seed), 5);
}

// Three quarters of 2^32 and of 2^64 show what is wrong with simpler ways: a modulo draws the first
// third twice as often, a multiplication without rejection one residue of three.
TEST(Rng, BelowIsInRangeAndUnbiased) {
  Rng rng(2, 0, 0, 0);
  EXPECT_EQ(rng.Below(1), 0u);
  for (const uint64_t n : {uint64_t{3}, uint64_t{3} << 30, uint64_t{3} << 62}) {
    std::vector<int64_t> thirds(3), residues(3);
    for (int i = 0; i < 100'000; ++i) {
      const uint64_t drawn = rng.Below(n);
      ASSERT_LT(drawn, n);
      ++thirds[drawn / (n / 3)];
      ++residues[drawn % 3];
    }
    EXPECT_LT(ChiSquareExcess(thirds), 5) << "n=" << n;
    EXPECT_LT(ChiSquareExcess(residues), 5) << "n=" << n;
  }
}

TEST(Rng, UniformsAreInRangeAndEven) {
  Rng rng(3, 0, 0, 0);
  std::vector<int64_t> floats(100), doubles(100);
  for (int i = 0; i < 100'000; ++i) {
    const float f = rng.Uniform();
    const double d = rng.UniformDouble();
    ASSERT_TRUE(f >= 0 && f < 1 && d >= 0 && d < 1);
    ASSERT_EQ(f * 0x1p24f, std::floor(f * 0x1p24f));
    ++floats[static_cast<size_t>(f * 100)];
    ++doubles[static_cast<size_t>(d * 100)];
  }
  EXPECT_LT(ChiSquareExcess(floats), 5);
  EXPECT_LT(ChiSquareExcess(doubles), 5);
  for (int i = 0; i < 1000; ++i) {
    const float value = rng.UniformIn(-2, 3);
    ASSERT_TRUE(value >= -2 && value <= 3);
  }
}

// The formula in long double, from the C library: an independent way to the same number.
TEST(Rng, NormalIsBoxAndMullersFormula) {
  Rng rng(4, 0, 0, 0);
  Rng same(4, 0, 0, 0);
  for (int i = 0; i < 100'000; ++i) {
    const long double u = (same.NextU32() + 1.0L) / 0x1p32L;
    const long double turn = same.NextU32() / 0x1p32L;
    const long double wanted =
        std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846264L * turn);
    ASSERT_NEAR(rng.Normal(), static_cast<double>(wanted), 3e-15);
  }
}

TEST(Rng, NormalHasTheMomentsAndTailsOfItsDistribution) {
  Rng rng(5, 0, 0, 0);
  RunningStats stats;
  int beyond_two = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = rng.Normal();
    stats.Add(value);
    beyond_two += std::abs(value) > 2;
  }
  EXPECT_NEAR(stats.mean(), 0, 0.01);
  EXPECT_NEAR(stats.variance(), 1, 0.015);
  EXPECT_NEAR(static_cast<double>(beyond_two) / kDraws, 0.0455, 0.0025);  // 2 (1 - Phi(2))
  EXPECT_LT(stats.max(), 6.7);
}

TEST(Rng, BernoulliHitsAsOftenAsAskedAndNeverOrAlwaysAtTheEnds) {
  Rng rng(6, 0, 0, 0);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) {
    hits += rng.Bernoulli(0.3);
    ASSERT_FALSE(rng.Bernoulli(0));
    ASSERT_TRUE(rng.Bernoulli(1));
  }
  EXPECT_NEAR(hits, 30'000, 800);
}

}  // namespace stoker::random_test
