// Figures over time within a bound of memory: the longer they go on, the coarser they get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stoker {

// Keeps at most `most` rows, each the mean of as many rows in a row as added ones had to be joined:
// 1, then 2, 4 and so on. One thread at a time.
class ThinnedRows {
 public:
  using Row = std::vector<double>;

  //   most  at least 2
  explicit ThinnedRows(size_t most) : most_(most) {}

  // Adds a row. Rows may differ in length; what one does not have, or has as NaN, does not count
  // in its mean.
  void Add(const Row& row);

  // Returns the rows, the one that is still being joined included.
  std::vector<Row> rows() const;

  // How many added rows a row stands for.
  int64_t stride() const { return stride_; }

  // Forgets all.
  void Clear();

 private:
  // Sums over the rows that had the figure, and their number.
  struct Sums {
    Row sums;
    std::vector<int64_t> counts;
    int64_t rows = 0;

    void Add(const Sums& other);
    Row Means() const;
  };

  const size_t most_;
  int64_t stride_ = 1;
  std::vector<Sums> whole_;
  Sums part_;  // of fewer than `stride_` rows
};

}  // namespace stoker
