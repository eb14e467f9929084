// Elements that are handed out in pieces: unbatch and flat_map.
#pragma once

#include <memory>

#include "stoker/data/core/iterator.h"

namespace stoker {

// A node whose elements, read in order, are pieces of those of its input.
class UnpackingNode : public DatasetNode {
 public:
  using DatasetNode::DatasetNode;

  // How many pieces `whole` has; an error names the element.
  virtual Result<int64_t> CountPieces(const Element& whole) const = 0;
  // Piece number `i`. Its key is set here where it follows from the whole's, and else by the
  // iterator: `made` is how many pieces the pass has given before.
  virtual Element Piece(const Element& whole, int64_t i, int64_t made) const = 0;

  // An iterator over the pieces. Between calls it holds the element whose turn it is; a saved
  // position has its key, or a state of the input from before it (held_input.h), so that
  // restoring makes that element again.
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;
};

}  // namespace stoker
