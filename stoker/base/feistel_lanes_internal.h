// The walk of IndexPermutation through its rounds, for many values at once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "stoker/base/permutation.h"

namespace stoker::internal {

struct FeistelNetwork {
  std::span<const FeistelRound> rounds;  // an even number, at most kMostFeistelRounds
  int low_bits;                          // of the half that comes last
  uint64_t low_mask, high_mask;          // of the halves, at most 32 bits each
};
inline constexpr size_t kMostFeistelRounds = 8;

// Puts each value, which has no more bits than both halves together, once through all rounds, with
// the vector instructions of this CPU. permutation_test.cc holds it to IndexPermutation's own call,
// its plain twin. Thread-safe.
void EncryptLanes(const FeistelNetwork& network, std::span<uint64_t> values);

// The one that runs, such as "AVX2".
std::string_view EncryptLanesInstructionSet();

}  // namespace stoker::internal
