// Counter-based random numbers: a pure function of a key and a counter, so that what a sample gets depends on which
// sample it is and never on the thread or the moment (design, invariant 1).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stoker {

// Philox-4x32 with 10 rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// Mixes 64 bits into 64 bits, bijectively (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
uint64_t Mix64(uint64_t x);

// The stream of random numbers of one sample at one stage. Cheap to make (no state is filled); not thread-safe.
// Key: Mix64 of seed and stage. Counter: block number, epoch, index: at most 2^32 blocks of four draws.
class Rng {
 public:
  Rng(uint64_t seed, uint64_t epoch, uint64_t index, uint64_t stage);

  uint32_t NextU32();
  uint64_t NextU64();
  // In [0, n), each equally likely; n > 0. Lemire, "Fast random integer generation in an interval" (2019).
  uint64_t Below(uint64_t n);
  // In [0, 1), a multiple of 2^-24, so exactly representable as float.
  float Uniform();
  // In [0, 1), a multiple of 2^-53.
  double UniformDouble();
  float UniformIn(float low, float high) { return low + (high - low) * Uniform(); }
  // Standard normal (Box-Muller; two draws a call).
  double Normal();
  bool Bernoulli(double probability) { return UniformDouble() < probability; }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;  // of block_
};

}  // namespace stoker
