// The rounds of IndexPermutation's Feistel network, for many values at once.
#pragma once

#include <cstdint>
#include <span>

#include "stoker/base/permutation.h"

namespace stoker::internal {

struct FeistelNetwork {
  std::span<const FeistelRound> rounds;  // an even number, at most kMostFeistelRounds
  int low_bits;                          // of the low half
  uint64_t low_mask, high_mask;          // of the halves, at most 32 bits each
};
inline constexpr size_t kMostFeistelRounds = 8;

// Encrypts each value once with all rounds, in place, with the vector instructions of this CPU.
// REQUIRES: a value has no more bits than both halves together. permutation_test.cc compares it
// with IndexPermutation::operator(), its plain twin. Thread-safe.
void EncryptLanes(const FeistelNetwork& network, std::span<uint64_t> values);

}  // namespace stoker::internal
