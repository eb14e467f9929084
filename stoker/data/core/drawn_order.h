// Which pipelines put elements into an order that an IndexPermutation makes. A saved position of
// such a pipeline means the same elements only where the permutations are the same
// (IndexPermutation::kVersion).
#pragma once

#include "stoker/base/json.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Implemented by the nodes of stages that do so. Thread-safe.
class DrawnOrder {
 public:
  virtual ~DrawnOrder() = default;

  // False where the options of this one leave the elements in their order.
  virtual bool draws_order() const { return true; }
};

// Whether a stage of `dataset` does so. Pipelines that a stage opens while a pass runs are not
// looked at.
bool DrawsOrder(const Dataset& dataset);

// Whether `state`, which the iterator of Dataset::Open saved, says that it was saved by a version
// of Stoker whose permutations are those of this one. Where no stage draws an order it need not.
bool HasTheseOrders(const Json& state);
// Makes `state` say so, for a caller that knows it, or takes other orders on itself.
void TakeForTheseOrders(Json& state);

}  // namespace stoker
