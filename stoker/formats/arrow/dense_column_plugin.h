// The short way through Parquet's levels, for columns of numbers in which nothing is missing.
#pragma once

#include <arrow/result.h>

#include <cstddef>
#include <cstdint>

#include "stoker/formats/arrow/arrow_reading_plugin.h"
#include "stoker/formats/arrow/column_plan_plugin.h"

namespace parquet {
class RowGroupReader;
}

namespace stoker {

// Whether a column has rows of one size, of numbers that are stored as they are wanted or wider.
bool MayBeDense(const ColumnPlan& plan);

// Reads a column chunk into `out`, of rows * plan.item_bytes() bytes. Arrow's own reader makes
// bitmaps and offsets of the levels of nested columns; here they are compared with the levels that
// full rows have. Returns false, and `out` then has no meaning, if a value is missing, if a row has
// another length, or if Parquet stores the numbers in a type that this does not read. Throws what
// Parquet throws. REQUIRES: MayBeDense(plan).
//   leaf     the column of Parquet
//   stopped  asked between batches; where it is true, the read ends with Status::Cancelled
arrow::Result<bool> ReadDenseColumn(parquet::RowGroupReader& group, int leaf,
                                    const ColumnPlan& plan, int64_t rows,
                                    const LimitedPool& stopped, uint8_t* out);

}  // namespace stoker
