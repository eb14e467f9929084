// The stored permutations of one stage of a pass, each made once for all threads.
#pragma once

#include <cstdint>
#include <memory>

#include "stoker/base/permutation.h"
#include "stoker/data/core/kept_orders.h"

namespace stoker {

// A permutation of up to IndexPermutation::kMostStored indices takes time to make and memory to
// store. Keeps the most recently used ones, up to kKeptBytes, charged to the stage's account. Does
// not keep small ones, which are faster to make than to find; of large ones, which are computed,
// each thread keeps the last. Thread-safe.
class SharedPermutations {
 public:
  static constexpr int64_t kKeptBytes = 16 << 20;

  // `account` may be null.
  explicit SharedPermutations(std::shared_ptr<MemoryAccount> account)
      : account_(std::move(account)), kept_(kKeptBytes) {}

  // Returns IndexPermutation(n, seed, epoch, stage).
  std::shared_ptr<const IndexPermutation> Get(int64_t n, uint64_t seed, uint64_t epoch,
                                              uint64_t stage) const;

 private:
  const std::shared_ptr<MemoryAccount> account_;
  const KeptOrders<IndexPermutation> kept_;
};

}  // namespace stoker
