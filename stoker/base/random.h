// Counter-based random numbers: a pure function of a key and a counter, so that the draws of a
// sample depend on which sample it is, never on the thread or the time.
#pragma once

#include <array>
#include <cstdint>

namespace stoker {

// Philox-4x32 with 10 rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1,
// 2, 3" (SC 2011).
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// Mixes 64 bits into 64 bits, bijectively (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA
// 2014).
uint64_t Mix64(uint64_t x);

// The stream of random numbers of one sample at one stage. Cheap to make (no state is filled); not
// thread-safe.
//
// The layout is part of the format of a run: a change would change the draws of a resumed run.
// Golden values in random_test.cc pin it.
//   key      k = Mix64(seed + g); k = Mix64(k + stage + g); k = Mix64(k + (epoch >> 32) + g), with
//            g = 0x9e3779b97f4a7c15; word 0 is the low half of k, word 1 the high half
//   counter  word 0: number of the block of four draws, from 0; words 1 and 2: low and high half
//            of index; word 3: low half of epoch
// So two samples of one (seed, stage) never share a block. After 2^34 draws the stream repeats.
class Rng {
 public:
  Rng(uint64_t seed, uint64_t epoch, uint64_t index, uint64_t stage);

  uint32_t NextU32();
  uint64_t NextU64();
  // Returns an integer in [0, n), each equally likely; n > 0. One draw if n < 2^32, else two;
  // rarely more. Lemire, "Fast random integer generation in an interval" (2019).
  uint64_t Below(uint64_t n);
  // Returns a multiple of 2^-24 in [0, 1), so exactly representable as float.
  float Uniform();
  // Returns a multiple of 2^-53 in [0, 1).
  double UniformDouble();
  float UniformIn(float low, float high) { return low + (high - low) * Uniform(); }
  // Returns a standard normal number, |x| < 6.7 (Box and Muller 1958; two draws a call). The same
  // bits on every CPU.
  double Normal();
  bool Bernoulli(double probability) { return UniformDouble() < probability; }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;  // of block_
};

}  // namespace stoker
