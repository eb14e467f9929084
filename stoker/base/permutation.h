// A random permutation of 0..n-1 that is computed, not stored: O(1) memory at any n.
#pragma once

#include <array>
#include <cstdint>

namespace stoker {

// A Feistel network over the smallest number of bits that covers n, with cycle walking: values that
// fall outside 0..n-1 are encrypted again until they fall inside (Black and Rogaway, "Ciphers with
// arbitrary finite domains", CT-RSA 2002). Where the number of bits is odd the halves differ by one
// bit and take turns, so fewer than two walks are needed on average. Round keys come from Philox
// over (seed, epoch, stage). A bijection for every n and key. Immutable after construction;
// concurrent calls are safe. About 25 ns a call.
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

  // The position at which index j appears: Inverse((*this)(i)) == i.
  int64_t Inverse(int64_t j) const;

 private:
  static constexpr int kRounds = 8;

  int64_t n_;
  int low_bits_;  // of the half that comes last
  uint64_t low_mask_, high_mask_;
  std::array<uint64_t, kRounds> keys_;
};

}  // namespace stoker
