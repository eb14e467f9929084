// Stages that output elements in pieces: unbatch and flat_map.
#pragma once

#include <memory>

#include "stoker/data/core/iterator.h"

namespace stoker {

// A node whose elements, read in order, are pieces of those of its input.
class UnpackingNode : public DatasetNode {
 public:
  using DatasetNode::DatasetNode;

  // Returns how many pieces `whole` has; an error names the element.
  virtual Result<int64_t> CountPieces(const Element& whole) const = 0;
  // Returns piece number `i`, with its key if that follows from the whole's; else the iterator sets
  // it. `made` is how many pieces the pass has returned before.
  virtual Element Piece(const Element& whole, int64_t i, int64_t made) const = 0;

  // Opens an iterator over the pieces. It holds the current element between calls; a saved position
  // has its key, or an earlier state of the input (held_input.h), so restoring makes that element
  // again.
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;
};

}  // namespace stoker
