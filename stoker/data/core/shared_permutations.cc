#include "stoker/data/core/shared_permutations.h"

#include <utility>

namespace stoker {
namespace {

constexpr int64_t kLeastKept = 512;  // indices; fewer are shuffled in about a microsecond

using Permutation = std::shared_ptr<const IndexPermutation>;

// The computed permutation that this thread asked for last, of any stage: a function of its key
// alone, which takes no memory worth counting. A read of one position asks for it each time.
struct LastComputed {
  OrderKey key;
  Permutation permutation;
};

const Permutation& Computed(const OrderKey& key) {
  thread_local LastComputed last;
  if (last.permutation == nullptr || last.key != key) {
    last = {key,
            std::make_shared<const IndexPermutation>(key.size, key.seed, key.epoch, key.stage)};
  }
  return last.permutation;
}

}  // namespace

std::shared_ptr<const IndexPermutation> SharedPermutations::Get(int64_t n, uint64_t seed,
                                                                uint64_t epoch,
                                                                uint64_t stage) const {
  const OrderKey key{seed, epoch, stage, n};
  if (n > IndexPermutation::kMostStored) return Computed(key);
  const auto make = [&] {
    return std::make_shared<const IndexPermutation>(n, seed, epoch, stage, account_);
  };
  if (n < kLeastKept) return make();
  const int64_t bytes = n * static_cast<int64_t>(sizeof(uint16_t));
  return kept_.Get(key, bytes, make);
}

}  // namespace stoker
