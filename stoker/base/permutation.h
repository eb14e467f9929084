// A random permutation of 0..n-1 that is computed, not stored: O(1) memory at any n.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker {

// A multiplier of its own for every round makes the round function as good as a random one on
// average over keys.
struct FeistelRound {
  uint64_t key;
  uint64_t multiplier;
};

// A Feistel network over the smallest number of bits that covers n, with cycle walking: values that
// fall outside 0..n-1 are encrypted again until they fall inside (Black and Rogaway, "Ciphers with
// arbitrary finite domains", CT-RSA 2002). Where the number of bits is odd the halves differ by one
// bit and take turns, so fewer than two walks are needed on average. Round keys come from Philox
// over (seed, epoch, stage). A bijection for every n and key. Immutable after construction;
// concurrent calls are safe. About 12 ns a call, 30 ns at sizes just above a power of two.
//
// The order is part of the format of a run: changing it breaks the resumption of every run there
// is. Golden values in permutation_test.cc hold it in place.
class IndexPermutation {
 public:
  // n >= 0.
  IndexPermutation(int64_t n, uint64_t seed, uint64_t epoch, uint64_t stage);

  int64_t size() const { return n_; }

  // Where position i of the shuffled order comes from; 0 <= i < n.
  int64_t operator()(int64_t i) const;

  // The same for each of `positions`, in place, with the vector instructions of this CPU: about
  // 2 ns for each where there are many, 4 ns at sizes just above a power of two (AVX-512).
  void Map(std::span<int64_t> positions) const;

  // The position at which index j appears: Inverse((*this)(i)) == i.
  int64_t Inverse(int64_t j) const;

 private:
  // Halves of one or two bits mix slowly: with 8 rounds, orders of 5 elements are visibly biased
  // (permutation_test.cc), those of more than 16 are not.
  static constexpr int64_t kSmall = 1024;
  static constexpr size_t kRounds = 8;
  static constexpr size_t kRoundsWhereSmall = 16;

  uint64_t Round(size_t round, uint64_t x) const;

  int64_t n_;
  size_t num_rounds_;
  int low_bits_;  // of the half that comes last
  uint64_t low_mask_, high_mask_;
  std::array<FeistelRound, kRoundsWhereSmall> rounds_;
};

}  // namespace stoker
