#include "stoker/base/permutation.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "stoker/base/feistel_lanes_internal.h"
#include "stoker/base/permuted_index.h"
#include "stoker/base/random.h"

namespace stoker {
namespace {

// No sample has this index, so the round keys share no random numbers with one.
constexpr uint64_t kKeyIndex = ~uint64_t{0};

// A call to Map works on this many positions at a time.
constexpr size_t kBlock = 256;

// 0 becomes 1 and 1 becomes 0 where `swapped` is 1; all other positions stay.
inline uint64_t SwapFirstTwo(uint64_t position, uint64_t swapped) {
  return position ^ (swapped & static_cast<uint64_t>(position < 2));
}

// The draws of one shuffle: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) from a key on, two draws
// from each of its numbers.
class ShuffleDraws {
 public:
  explicit ShuffleDraws(uint64_t key) : state_(key) {}

  // In [0, n), each equally likely; 0 < n <= 65536 (Lemire, "Fast random integer generation in an
  // interval", 2019).
  uint32_t Below(uint32_t n) {
    uint64_t product = uint64_t{Next()} * n;
    if (static_cast<uint32_t>(product) < n) {
      const uint32_t unfair = -n % n;
      while (static_cast<uint32_t>(product) < unfair) product = uint64_t{Next()} * n;
    }
    return static_cast<uint32_t>(product >> 32);
  }

 private:
  uint32_t Next() {
    if (has_half_) {
      has_half_ = false;
      return static_cast<uint32_t>(number_ >> 32);
    }
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
    state_ += kGolden;
    number_ = Mix64(state_);
    has_half_ = true;
    return static_cast<uint32_t>(number_);
  }

  uint64_t state_;
  uint64_t number_ = 0;
  bool has_half_ = false;
};

}  // namespace

// Step `left` of the shuffle puts what lies at its draw to place left - 1, where it stays, so the
// index that ends at place i is followed back through the steps before.
int64_t PermutedIndex(int64_t n, uint64_t seed, uint64_t epoch, uint64_t stage, int64_t i) {
  constexpr int64_t kMostFollowed = 1024;
  if (n > kMostFollowed) return IndexPermutation(n, seed, epoch, stage)(i);
  ShuffleDraws draws(Rng(seed, epoch, kKeyIndex, stage).NextU64());
  std::array<uint16_t, kMostFollowed> drawn;  // by place, from i on
  const auto count = static_cast<uint32_t>(n), place = static_cast<uint32_t>(i);
  for (uint32_t left = count; left > std::max(place, 1u); --left)
    drawn[left - 1] = static_cast<uint16_t>(draws.Below(left));
  uint32_t at = place == 0 ? 0 : drawn[place];
  for (uint32_t earlier = place + 1; earlier < count; ++earlier)
    at = drawn[earlier] == at ? earlier : at;
  return at;
}

IndexPermutation::IndexPermutation(int64_t n, uint64_t seed, uint64_t epoch, uint64_t stage,
                                   std::shared_ptr<MemoryAccount> account)
    : n_(n) {
  Rng rng(seed, epoch, kKeyIndex, stage);
  if (IsStored()) {
    Shuffle(rng.NextU64(), std::move(account));
    return;
  }
  const int bits = std::bit_width(static_cast<uint64_t>(n - 1));
  low_bits_ = bits / 2;
  low_mask_ = (uint64_t{1} << low_bits_) - 1;
  high_mask_ = (uint64_t{1} << (bits - low_bits_)) - 1;
  for (FeistelRound& round : rounds_) {
    round.key = rng.NextU64();
    round.multiplier = rng.NextU64() | 1;
  }
  first_two_swapped_ = rng.NextU64() & 1;
}

const uint16_t* IndexPermutation::Stored() const {
  return stored_ ? reinterpret_cast<const uint16_t*>(stored_.data()) : inside_.data();
}

void IndexPermutation::Shuffle(uint64_t key, std::shared_ptr<MemoryAccount> account) {
  const auto n = static_cast<uint32_t>(n_);
  uint16_t* order = inside_.data();
  if (n_ > kMostInside) {
    stored_ = Buffer::Allocate(n * sizeof(uint16_t), std::move(account));
    order = reinterpret_cast<uint16_t*>(stored_.data());
  }
  std::iota(order, order + n, uint16_t{0});
  ShuffleDraws draws(key);
  for (uint32_t left = n; left > 1; --left) std::swap(order[left - 1], order[draws.Below(left)]);
  last_at_ = std::find(order, order + n, static_cast<uint16_t>(n - 1)) - order;
}

// Both halves of the 128-bit product, folded, and of that the upper half: its lower bits depend on
// few bits of x.
inline uint64_t IndexPermutation::Round(size_t round, uint64_t x) const {
  const FeistelRound& with = rounds_[round];
  const __uint128_t product = static_cast<__uint128_t>(x ^ with.key) * with.multiplier;
  return (static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product)) >> 32;
}

int64_t IndexPermutation::operator()(int64_t i) const {
  if (IsStored()) return Stored()[i];
  return Encrypt(SwapFirstTwo(static_cast<uint64_t>(i), first_two_swapped_));
}

int64_t IndexPermutation::Encrypt(uint64_t i) const {
  uint64_t low = i & low_mask_;
  uint64_t high = i >> low_bits_;
  while (true) {
    for (size_t round = 0; round < kRounds; round += 2) {
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
  if (IsStored()) {
    const uint16_t* const order = Stored();
    for (int64_t& position : positions) position = order[position];
    return;
  }
  const internal::FeistelNetwork network{rounds_, low_bits_, low_mask_, high_mask_};
  std::array<uint64_t, kBlock> values;
  std::array<size_t, kBlock> places;  // in the block, of each value
  for (; !positions.empty(); positions = positions.subspan(std::min(kBlock, positions.size()))) {
    const std::span<int64_t> block = positions.first(std::min(kBlock, positions.size()));
    size_t left = block.size();
    for (size_t i = 0; i < left; ++i) {
      values[i] = SwapFirstTwo(static_cast<uint64_t>(block[i]), first_two_swapped_);
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
  if (IsStored()) {
    if (j == n_ - 1) return last_at_;
    const uint16_t* const order = Stored();
    return std::find(order, order + n_, static_cast<uint16_t>(j)) - order;
  }
  uint64_t low = static_cast<uint64_t>(j) & low_mask_;
  uint64_t high = static_cast<uint64_t>(j) >> low_bits_;
  while (true) {
    for (size_t round = kRounds; round > 0; round -= 2) {
      low ^= Round(round - 1, high) & low_mask_;
      high ^= Round(round - 2, low) & high_mask_;
    }
    const uint64_t value = high << low_bits_ | low;
    if (value < static_cast<uint64_t>(n_))
      return static_cast<int64_t>(SwapFirstTwo(value, first_two_swapped_));
  }
}

}  // namespace stoker
