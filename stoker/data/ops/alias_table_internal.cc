#include "stoker/data/ops/alias_table_internal.h"

#include <algorithm>
#include <numeric>

namespace stoker {

AliasTable::AliasTable(const std::vector<double>& weights) : columns_(weights.size()) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto n = static_cast<double>(weights.size());
  // Shares of a column each: those that do not fill theirs, and those that have some to give.
  std::vector<double> shares(weights.size());
  std::vector<uint32_t> small, large;
  for (size_t i = 0; i < weights.size(); ++i) {
    shares[i] = weights[i] / sum * n;
    (shares[i] < 1 ? small : large).push_back(static_cast<uint32_t>(i));
  }
  while (!small.empty() && !large.empty()) {
    const uint32_t filled = small.back(), giver = large.back();
    small.pop_back();
    columns_[filled] = {.threshold = static_cast<uint32_t>(shares[filled] * 0x1p32),
                        .alias = giver};
    shares[giver] -= 1 - shares[filled];
    if (shares[giver] < 1) {
      large.pop_back();
      small.push_back(giver);
    }
  }
  // What is left would fill its column but for rounding; what has no weight must not even so.
  const auto heaviest = static_cast<uint32_t>(std::ranges::max_element(weights) - weights.begin());
  for (const std::vector<uint32_t>& rest : {small, large}) {
    for (const uint32_t i : rest)
      columns_[i] = {.threshold = 0, .alias = weights[i] > 0 ? i : heaviest};
  }
}

int64_t AliasTable::Draw(Rng& rng) const {
  const uint64_t i = rng.Below(columns_.size());
  const Column& column = columns_[i];
  return rng.NextU32() < column.threshold ? static_cast<int64_t>(i) : column.alias;
}

}  // namespace stoker
