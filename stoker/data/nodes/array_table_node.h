// Base of sources over arrays in memory, or mapped: element i is row i of each column.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "stoker/data/core/dataset.h"
#include "stoker/data/nodes/from_arrays.h"

namespace stoker {

// Sub-classes have the columns, one for each field, at the latest when they are prepared.
class ArrayTableNode : public DatasetNode {
 public:
  // Does not count the columns themselves.
  std::optional<int64_t> MemoryToRead(int64_t count) const final;
  bool fixed_order() const final { return true; }
  bool random_access() const final { return true; }
  bool rereadable() const final { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const final;

  // Returns the columns. REQUIRES: Prepare has succeeded.
  virtual const ArrayTable& table() const = 0;

 protected:
  using DatasetNode::DatasetNode;

  Result<Element> DoRead(int64_t position, const ReadContext& context) const override;
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override;
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override;
};

}  // namespace stoker
