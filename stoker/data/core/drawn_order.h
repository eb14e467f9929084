// Pipelines that order elements by an IndexPermutation. A saved position of such a pipeline means
// the same elements only with the same permutations (IndexPermutation::kVersion).
#pragma once

#include "stoker/base/json.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Implemented by the nodes of such stages. Thread-safe.
class DrawnOrder {
 public:
  virtual ~DrawnOrder() = default;

  // Returns false if the options of this node keep the elements in their order.
  virtual bool draws_order() const { return true; }
};

// Returns whether a stage of `dataset` draws an order. Ignores pipelines that a stage opens while a
// pass runs.
bool DrawsOrder(const Dataset& dataset);

// Returns whether `state`, saved by an iterator of Dataset::Open, was saved by a version of Stoker
// with the same permutations. Not needed if no stage draws an order.
bool HasTheseOrders(const Json& state);
// Marks `state` so, for a caller that knows it, or accepts other orders.
void TakeForTheseOrders(Json& state);

}  // namespace stoker
