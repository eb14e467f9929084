#include "stoker/data/shared_permutations.h"

#include <utility>

namespace stoker {
namespace {

constexpr int64_t kLeastKept = 512;  // indices; fewer are shuffled in about a microsecond

}  // namespace

std::shared_ptr<const IndexPermutation> SharedPermutations::Get(int64_t n, uint64_t seed,
                                                                uint64_t epoch,
                                                                uint64_t stage) const {
  const auto make = [&] {
    return std::make_shared<const IndexPermutation>(n, seed, epoch, stage, account_);
  };
  if (n < kLeastKept || n > IndexPermutation::kMostStored) return make();
  const int64_t bytes = n * static_cast<int64_t>(sizeof(uint16_t));
  return kept_.Get({seed, epoch, stage, n}, bytes, make);
}

}  // namespace stoker
