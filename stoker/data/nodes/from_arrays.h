// A source over arrays in memory: element i is part i of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Makes a dataset whose elements lie along the first dimension of each array; all have the same
// extent. The dataset shares the arrays' memory, and so do the elements read one by one: do not
// write to it. `name` is the stage's name in reports.
Result<Dataset> FromArrays(std::vector<std::pair<std::string, Array>> fields,
                           std::string name = "arrays");

// The data of sources over memory: columns of equal length, one for each field. Immutable.
class ArrayTable {
 public:
  explicit ArrayTable(std::vector<Array> columns) : columns_(std::move(columns)) {}

  // Returns row `position`, sharing the columns' memory.
  Element Read(int64_t position, uint64_t epoch) const;
  // Returns copies of many rows.
  Rows ReadRows(std::span<const int64_t> positions, uint64_t epoch, Scratch& scratch) const;

  const std::vector<Array>& columns() const { return columns_; }

 private:
  std::vector<Array> columns_;
};

// Returns a checksum of the values, for a dataset that FromArrays made; nothing for any other.
std::optional<uint32_t> ChecksumOfArrays(const DatasetNode& node);

}  // namespace stoker
