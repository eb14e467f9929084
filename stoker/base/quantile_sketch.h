// Quantiles of any number of values in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stoker {

// Keeps all values up to kExact of them; beyond, every second of kExact sorted values stands for
// two, level by level (Munro and Paterson, "Selection and sorting with limited storage", 1980; the
// choice of the second alternates). The rank of a value is then off by at most one kExact-th of all
// values for each level: of 10^9 values by 1 in 10,000. Equal calls give equal results, on every
// CPU. One thread at a time.
class QuantileSketch {
 public:
  static constexpr size_t kExact = size_t{1} << 17;

  //   exact  for tests: an even number in place of kExact
  explicit QuantileSketch(size_t exact = kExact) : exact_(exact) {}

  // REQUIRES: value is no NaN.
  void Add(double value);

  int64_t count() const { return count_; }
  // Returns the smallest value. REQUIRES: count() > 0.
  double min() const { return min_; }
  int64_t bytes() const;

  // Returns parts - 1 values that divide the sorted values into parts of equal counts: each is the
  // first value of its part. Equal values are repeated. REQUIRES: count() > 0, parts > 0.
  std::vector<double> Dividers(int64_t parts) const;

 private:
  struct Level {
    std::vector<double> values;  // each stands for 2^level values
    bool odd = false;            // which of two neighbours the next compaction keeps
  };

  void Compact(size_t level);

  const size_t exact_;
  std::vector<Level> levels_;
  int64_t count_ = 0;
  double min_ = 0;
};

}  // namespace stoker
