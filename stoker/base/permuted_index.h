// One position of an IndexPermutation, without the permutation.
#pragma once

#include <cstdint>

namespace stoker {

// Returns IndexPermutation(n, seed, epoch, stage)(i), 0 <= i < n. For a small stored order it makes
// only the draws that decide position i and allocates nothing, at about a third of the cost of the
// whole order. For any other n it makes the permutation.
int64_t PermutedIndex(int64_t n, uint64_t seed, uint64_t epoch, uint64_t stage, int64_t i);

}  // namespace stoker
