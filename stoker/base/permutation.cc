#include "stoker/base/permutation.h"

#include <algorithm>
#include <bit>

#include "stoker/base/feistel_lanes_internal.h"
#include "stoker/base/random.h"

namespace stoker {
namespace {

// No sample has this index, so the round keys share no random numbers with one.
constexpr uint64_t kKeyIndex = ~uint64_t{0};

// Of a call to Map so many positions are worked on at a time.
constexpr size_t kBlock = 256;

}  // namespace

IndexPermutation::IndexPermutation(int64_t n, uint64_t seed, uint64_t epoch, uint64_t stage)
    : n_(n), num_rounds_(n <= kSmall ? kRoundsWhereSmall : kRounds) {
  const int bits = n > 1 ? std::bit_width(static_cast<uint64_t>(n - 1)) : 0;
  low_bits_ = bits / 2;
  low_mask_ = (uint64_t{1} << low_bits_) - 1;
  high_mask_ = (uint64_t{1} << (bits - low_bits_)) - 1;
  Rng rng(seed, epoch, kKeyIndex, stage);
  for (FeistelRound& round : std::span(rounds_).first(num_rounds_)) {
    round.key = rng.NextU64();
    round.multiplier = rng.NextU64() | 1;
  }
}

// Both halves of the 128-bit product, folded, and of that the upper half: its lower bits depend on
// few bits of x.
inline uint64_t IndexPermutation::Round(size_t round, uint64_t x) const {
  const FeistelRound& with = rounds_[round];
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

// Values that fall outside 0..n-1 are packed together for the next walk, so that no lane waits for
// another.
void IndexPermutation::Map(std::span<int64_t> positions) const {
  const internal::FeistelNetwork network{std::span(rounds_).first(num_rounds_), low_bits_,
                                         low_mask_, high_mask_};
  std::array<uint64_t, kBlock> values;
  std::array<size_t, kBlock> places;  // in the block, of each value
  for (; !positions.empty(); positions = positions.subspan(std::min(kBlock, positions.size()))) {
    const std::span<int64_t> block = positions.first(std::min(kBlock, positions.size()));
    size_t left = block.size();
    for (size_t i = 0; i < left; ++i) {
      values[i] = static_cast<uint64_t>(block[i]);
      places[i] = i;
    }
    while (left > 0) {
      internal::EncryptLanes(network, std::span(values).first(left));
      size_t outside = 0;
      for (size_t i = 0; i < left; ++i) {  // without a branch: which are outside is random
        const uint64_t value = values[i];
        const size_t place = places[i];
        block[place] = static_cast<int64_t>(value);
        values[outside] = value;
        places[outside] = place;
        outside += value >= static_cast<uint64_t>(n_) ? 1 : 0;
      }
      left = outside;
    }
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
