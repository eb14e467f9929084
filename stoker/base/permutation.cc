#include "stoker/base/permutation.h"

#include <bit>

#include "stoker/base/random.h"

namespace stoker {
namespace {

// No sample has this index, so the round keys share no random numbers with one.
constexpr uint64_t kKeyIndex = ~uint64_t{0};

// Both halves of the 128-bit product, folded: one multiplication spreads every bit of x over
// all 64.
inline uint64_t RoundFunction(uint64_t x, uint64_t key) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  const __uint128_t product = static_cast<__uint128_t>(x ^ key) * kMultiplier;
  return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
}

}  // namespace

IndexPermutation::IndexPermutation(int64_t n, uint64_t seed, uint64_t epoch, uint64_t stage)
    : n_(n) {
  const int bits = n > 1 ? std::bit_width(static_cast<uint64_t>(n - 1)) : 0;
  low_bits_ = bits / 2;
  low_mask_ = (uint64_t{1} << low_bits_) - 1;
  high_mask_ = (uint64_t{1} << (bits - low_bits_)) - 1;
  Rng rng(seed, epoch, kKeyIndex, stage);
  for (uint64_t& key : keys_) key = rng.NextU64();
}

int64_t IndexPermutation::operator()(int64_t i) const {
  uint64_t low = static_cast<uint64_t>(i) & low_mask_;
  uint64_t high = static_cast<uint64_t>(i) >> low_bits_;
  while (true) {
    for (int round = 0; round < kRounds; round += 2) {
      high ^= RoundFunction(low, keys_[round]) & high_mask_;
      low ^= RoundFunction(high, keys_[round + 1]) & low_mask_;
    }
    const auto value = static_cast<int64_t>(high << low_bits_ | low);
    if (value < n_) return value;
  }
}

int64_t IndexPermutation::Inverse(int64_t j) const {
  uint64_t low = static_cast<uint64_t>(j) & low_mask_;
  uint64_t high = static_cast<uint64_t>(j) >> low_bits_;
  while (true) {
    for (int round = kRounds; round > 0; round -= 2) {
      low ^= RoundFunction(high, keys_[round - 1]) & low_mask_;
      high ^= RoundFunction(low, keys_[round - 2]) & high_mask_;
    }
    const auto value = static_cast<int64_t>(high << low_bits_ | low);
    if (value < n_) return value;
  }
}

}  // namespace stoker
