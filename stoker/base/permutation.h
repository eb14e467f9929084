// A random permutation of 0..n-1 that follows from its key alone: a stored shuffle where n is
// small, computed in O(1) memory where it is large.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stoker/base/buffer.h"

namespace stoker {

// A multiplier of its own for every round makes the round function as good as a random one on
// average over keys.
struct FeistelRound {
  uint64_t key;
  uint64_t multiplier;
};

// Up to kMostStored indices: a Fisher-Yates shuffle (Durstenfeld, "Algorithm 235: Random
// permutation", CACM 1964), whose draws follow from a key of 64 bits. Of up to 20 indices every
// order is equally likely; of more there are more orders than keys, so most of them never come, and
// which ones do has no pattern. It is made by the constructor, at about 3 ns an index, and takes 2
// bytes an index; copies share it.
//
// Above: a Feistel network over the smallest number of bits that covers n, with cycle walking:
// values that fall outside 0..n-1 are encrypted again until they fall inside (Black and Rogaway,
// "Ciphers with arbitrary finite domains", CT-RSA 2002). Where the number of bits is odd the halves
// differ by one bit and take turns, so fewer than two walks are needed on average. Such a network
// over a power of two makes even permutations alone, so a bit of the key says whether the first two
// positions change places before. About 12 ns a call, 30 ns at sizes just above a power of two.
// permutation_test.cc compares triples, parity and cycles with those of true shuffles.
//
// The key is (seed, epoch, stage), from which Philox makes what is needed. A bijection for every n
// and key. Immutable after construction; concurrent calls are safe.
//
// The order is part of the format of a run: changing it breaks the resumption of every run there
// is. Golden values in permutation_test.cc hold it in place.
class IndexPermutation {
 public:
  // Which orders a key gives; goes up with every change that makes other ones. Saved positions name
  // it; those from before they did have version 1.
  static constexpr int kVersion = 2;
  // The largest n whose order is stored.
  static constexpr int64_t kMostStored = 65'536;

  // n >= 0. What is stored is charged to `account`, which may be null, while one of the copies
  // lives; up to kMostInside indices stand in the object and are not.
  IndexPermutation(int64_t n, uint64_t seed, uint64_t epoch, uint64_t stage,
                   std::shared_ptr<MemoryAccount> account = nullptr);

  int64_t size() const { return n_; }
  // Bytes that are stored outside of the object.
  int64_t stored_bytes() const { return static_cast<int64_t>(stored_.size()); }

  // Where position i of the shuffled order comes from; 0 <= i < n.
  int64_t operator()(int64_t i) const;

  // The same for each of `positions`, in place: of a stored order about 1 ns for each where they
  // come in order; of a computed one, with the vector instructions of this CPU, about 2 ns where
  // there are many, 4 ns at sizes just above a power of two (AVX-512).
  void Map(std::span<int64_t> positions) const;

  // The position at which index j appears: Inverse((*this)(i)) == i. Of a stored order this looks
  // through all of it, unless j is n - 1.
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
  // Where the order is stored.
  Buffer stored_;                               // uint16 each; empty where it stands in inside_
  std::array<uint16_t, kMostInside> inside_{};  // of few indices
  int64_t last_at_ = 0;                         // the position of n - 1
  // Where it is computed.
  int low_bits_ = 0;  // of the half that comes last
  uint64_t low_mask_ = 0, high_mask_ = 0;
  uint64_t first_two_swapped_ = 0;  // 0 or 1
  std::array<FeistelRound, kRounds> rounds_{};
};

}  // namespace stoker
