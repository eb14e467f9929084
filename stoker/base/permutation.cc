#include "stoker/base/permutation.h"

#include <bit>

#include "stoker/base/random.h"

namespace stoker {
namespace {

// No sample has this index, so the round keys share no random numbers with one.
constexpr uint64_t kKeyIndex = ~uint64_t{0};

}  // namespace

IndexPermutation::IndexPermutation(int64_t n, uint64_t seed, uint64_t epoch, uint64_t stage)
    : n_(n), num_rounds_(n <= kSmall ? kRoundsWhereSmall : kRounds) {
  const int bits = n > 1 ? std::bit_width(static_cast<uint64_t>(n - 1)) : 0;
  low_bits_ = bits / 2;
  low_mask_ = (uint64_t{1} << low_bits_) - 1;
  high_mask_ = (uint64_t{1} << (bits - low_bits_)) - 1;
  Rng rng(seed, epoch, kKeyIndex, stage);
  for (RoundKey& round : rounds_) {
    round.key = rng.NextU64();
    round.multiplier = rng.NextU64() | 1;
  }
}

// Both halves of the 128-bit product, folded, and of that the upper half: its lower bits depend on
// few bits of x.
inline uint64_t IndexPermutation::Round(size_t round, uint64_t x) const {
  const RoundKey& with = rounds_[round];
  const __uint128_t product = static_cast<__uint128_t>(x ^ with.key) * with.multiplier;
  return (static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product)) >> 32;
}

int64_t IndexPermutation::operator()(int64_t i) const {
  uint64_t low = static_cast<uint64_t>(i) & low_mask_;
  uint64_t high = static_cast<uint64_t>(i) >> low_bits_;
  while (true) {
    for (size_t round = 0; round < num_rounds_; round += 2) {
      high ^= Round(round, low) & high_mask_;
      low ^= Round(round + 1, high) & low_mask_;
    }
    const auto value = static_cast<int64_t>(high << low_bits_ | low);
    if (value < n_) return value;
  }
}

int64_t IndexPermutation::Inverse(int64_t j) const {
  uint64_t low = static_cast<uint64_t>(j) & low_mask_;
  uint64_t high = static_cast<uint64_t>(j) >> low_bits_;
  while (true) {
    for (size_t round = num_rounds_; round > 0; round -= 2) {
      low ^= Round(round - 1, high) & low_mask_;
      high ^= Round(round - 2, low) & high_mask_;
    }
    const auto value = static_cast<int64_t>(high << low_bits_ | low);
    if (value < n_) return value;
  }
}

}  // namespace stoker
