// A pipeline of batches as one of several ranks reads it that train together.
#pragma once

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/row_share.h"

namespace stoker {

struct RankRows {
  Dataset dataset;
  // Whether each rank makes the samples of all ranks and drops those of the others, which costs
  // each of them the work of one process alone: the samples before the outermost batch come in
  // order, or what makes the batches needs all of their rows, or a stage after it does.
  bool makes_all = false;
};

// Returns the elements of `batches`, in the same order and with the same keys, of each only the
// rows of `share`. The ranks' rows of an element, one after the other, are the bytes of the
// element, but for the offsets of ragged fields, which begin at 0 for each rank. A saved position
// is that of `batches`, so any rank's serves all, and any number of ranks continues it. An element
// may have no row here (a last batch with fewer rows than there are ranks).
//
// Errors: kInvalidArgument: a field has no rows, since it is one number.
Result<RankRows> RowsOfRank(const Dataset& batches, const RowShare& share);

}  // namespace stoker
