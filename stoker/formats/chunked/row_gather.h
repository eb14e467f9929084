// Rows of an array in chunks, one behind the other.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "stoker/formats/chunked/chunked_array.h"

namespace stoker {

// Where chunks come from: the array itself, or what keeps some of them.
using ChunkGetter = std::function<Result<StoredChunk>(int64_t number)>;

// Copies the stored values of these rows, each 0 <= row < array.rows(), one row behind the other
// into `out`, of rows.size() * array.stored_row_bytes() bytes. A chunk is asked for once as long as
// consecutive rows lie in it. Errors: those of `chunks`.
Status GatherRows(const ChunkedArray& array, std::span<const int64_t> rows,
                  const ChunkGetter& chunks, std::byte* out);

// The same where the rows' values lie in the file as they are to be: one row, sharing the file's
// memory. Nothing where that is not so. Errors: those of `chunks`.
Result<std::optional<Array>> ShareRow(const ChunkedArray& array, int64_t row,
                                      const ChunkGetter& chunks);

}  // namespace stoker
