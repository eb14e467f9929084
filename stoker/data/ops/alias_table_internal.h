// Weighted draws with replacement in constant time.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/random.h"

namespace stoker {

// Draws i with probability weights[i] / sum, to within 2^-32 / n. The alias method: Walker 1977,
// with Vose's construction (IEEE Transactions on Software Engineering, 1991). 8 bytes a weight.
// Immutable; the same draws on every CPU.
class AliasTable {
 public:
  // At least one weight, fewer than 2^32, none negative, at least one positive, with a finite sum.
  // An item of weight 0 is never drawn.
  explicit AliasTable(const std::vector<double>& weights);

  int64_t Draw(Rng& rng) const;

 private:
  struct Column {
    uint32_t threshold;  // a draw below it stays, any other goes to the alias
    uint32_t alias;
  };
  std::vector<Column> columns_;
};

}  // namespace stoker
