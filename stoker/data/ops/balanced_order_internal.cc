#include "stoker/data/ops/balanced_order_internal.h"

#include <algorithm>
#include <numeric>

#include "stoker/base/permuted_index.h"
#include "stoker/base/random.h"

namespace stoker {
namespace {

// Indices, of which an order is made in about a microsecond, or one position in a part of that.
constexpr int64_t kFew = 512;

// Sets the keys of the rounds through a class apart from those of the runs.
constexpr uint64_t kRounds = uint64_t{1} << 63;

}  // namespace

ClassTable::ClassTable(const std::vector<int64_t>& labels) : elements_(labels.size()) {
  std::iota(elements_.begin(), elements_.end(), 0);
  const auto label = [&](int64_t element) { return labels[static_cast<size_t>(element)]; };
  std::ranges::stable_sort(elements_, {}, label);
  for (size_t i = 0; i < elements_.size(); ++i) {
    if (i == 0 || label(elements_[i]) != label(elements_[i - 1]))
      begins_.push_back(static_cast<int64_t>(i));
  }
  begins_.push_back(std::ssize(elements_));
}

BalancedOrder::BalancedOrder(const ClassTable& table, const SharedPermutations& permutations,
                             uint64_t seed, uint64_t epoch, uint64_t stage, int64_t positions)
    : table_(table),
      permutations_(permutations),
      seed_(seed),
      epoch_(epoch),
      stage_(stage),
      keeps_runs_(positions > 1),
      keeps_rounds_(positions > table.classes()) {}

int64_t BalancedOrder::operator()(int64_t i) {
  const int64_t classes = table_.classes();
  const int64_t run = i / classes;
  const auto run_key = static_cast<uint64_t>(run);
  const int64_t of_class = keeps_runs_ || classes >= kFew
                               ? Find(run_, run, classes, run_key)(i % classes)
                               : PositionIn(classes, run_key, i % classes);
  const int64_t size = table_.size(of_class);
  const int64_t round = run / size;
  const uint64_t key = kRounds | static_cast<uint64_t>(round * classes + of_class);
  const int64_t element = keeps_rounds_ || size >= kFew
                              ? Find(rounds_[of_class], round, size, key)(run % size)
                              : PositionIn(size, key, run % size);
  return table_.element(of_class, element);
}

int64_t BalancedOrder::PositionIn(int64_t n, uint64_t key, int64_t i) const {
  return PermutedIndex(n, Rng(seed_, epoch_, key, stage_).NextU64(), epoch_, stage_, i);
}

const IndexPermutation& BalancedOrder::Find(Kept& kept, int64_t number, int64_t n, uint64_t key) {
  if (kept.number != number) {
    kept.order = permutations_.Get(n, Rng(seed_, epoch_, key, stage_).NextU64(), epoch_, stage_);
    kept.number = number;
  }
  return *kept.order;
}

}  // namespace stoker
