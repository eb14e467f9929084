// One position of an IndexPermutation, without the permutation.
#pragma once

#include <cstdint>

namespace stoker {

// IndexPermutation(n, seed, epoch, stage)(i), 0 <= i < n. Of a small stored order only the draws
// are made that decide about position i, and no memory is taken: about a third of what making the
// whole order costs. Of any other n the permutation is made.
int64_t PermutedIndex(int64_t n, uint64_t seed, uint64_t epoch, uint64_t stage, int64_t i);

}  // namespace stoker
