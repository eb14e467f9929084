// A random permutation of 0..n-1 that is a function of its key: a stored shuffle for small n,
// computed in O(1) memory for large n.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stoker/base/buffer.h"

namespace stoker {

// Every round has its own multiplier, so that the round function is as good as a random one on
// average over keys.
struct FeistelRound {
  uint64_t key;
  uint64_t multiplier;
};

// Up to kMostStored indices: a Fisher-Yates shuffle (Durstenfeld, "Algorithm 235: Random
// permutation", CACM 1964), whose draws come from a key of 64 bits. With up to 20 indices every
// order is equally likely; with more there are more orders than keys, so most orders never occur,
// and those that do have no pattern. The constructor makes it, at about 3 ns an index; it takes 2
// bytes an index, which copies share.
//
// Above: a Feistel network over the smallest number of bits that covers n, with cycle walking:
// values that fall outside 0..n-1 are encrypted again until they fall inside (Black and Rogaway,
// "Ciphers with arbitrary finite domains", CT-RSA 2002). If the number of bits is odd the halves
// differ by one bit and alternate, so fewer than two walks are needed on average. Such a network
// over a power of two makes only even permutations, so a bit of the key says whether the first two
// positions are swapped beforehand. About 12 ns a call, 30 ns at sizes just above a power of two.
// permutation_test.cc compares triples, parity and cycles with those of true shuffles.
//
// The key is (seed, epoch, stage), which Philox expands. The result is a bijection for every n and
// key. Immutable after construction; concurrent calls are safe.
//
// The order is part of the format of a run: a change breaks the resumption of every existing run.
// Golden values in permutation_test.cc pin it.
class IndexPermutation {
 public:
  // Version of the mapping from keys to orders; increases with every change of it. Saved positions
  // contain it; those without one have version 1.
  static constexpr int kVersion = 2;
  // The largest n whose order is stored.
  static constexpr int64_t kMostStored = 65'536;

  // n >= 0. A stored order is charged to `account`, which may be null, while one of the copies
  // lives; up to kMostInside indices are stored in the object and not charged.
  IndexPermutation(int64_t n, uint64_t seed, uint64_t epoch, uint64_t stage,
                   std::shared_ptr<MemoryAccount> account = nullptr);

  int64_t size() const { return n_; }
  // Returns the bytes stored outside of the object.
  int64_t stored_bytes() const { return static_cast<int64_t>(stored_.size()); }

  // Returns the index at position i of the shuffled order; 0 <= i < n.
  int64_t operator()(int64_t i) const;

  // Does the same for each of `positions`, in place. A stored order takes about 1 ns each if they
  // ascend; a computed one, with the vector instructions of this CPU, about 2 ns if there are many,
  // 4 ns at sizes just above a power of two (AVX-512).
  void Map(std::span<int64_t> positions) const;

  // Returns the position at which index j appears: Inverse((*this)(i)) == i. Searches a stored
  // order from its start, unless j is n - 1.
  int64_t Inverse(int64_t j) const;

 private:
  static constexpr size_t kRounds = 8;
  static constexpr int64_t kMostInside = 64;

  bool IsStored() const { return n_ <= kMostStored; }
  const uint16_t* Stored() const;
  void Shuffle(uint64_t key, std::shared_ptr<MemoryAccount> account);
  uint64_t Round(size_t round, uint64_t x) const;
  int64_t Encrypt(uint64_t i) const;

  int64_t n_;
  // If the order is stored.
  Buffer stored_;                               // uint16 each; empty if the order is in inside_
  std::array<uint16_t, kMostInside> inside_{};  // for few indices
  int64_t last_at_ = 0;                         // the position of n - 1
  // If the order is computed.
  int low_bits_ = 0;  // of the low half
  uint64_t low_mask_ = 0, high_mask_ = 0;
  uint64_t first_two_swapped_ = 0;  // 0 or 1
  std::array<FeistelRound, kRounds> rounds_{};
};

}  // namespace stoker
