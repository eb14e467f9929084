// Consecutive rows from an array in chunks.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "stoker/formats/chunked/chunked_array.h"

namespace stoker {

// The source of chunks: the array itself, or a cache of some of them.
using ChunkGetter = std::function<Result<StoredChunk>(int64_t number)>;

// Copies the stored values of these rows, each 0 <= row < array.rows(), one after the other into
// `out`, of rows.size() * array.stored_row_bytes() bytes. Consecutive rows of one chunk request it
// once. Errors: those of `chunks`.
Status GatherRows(const ChunkedArray& array, std::span<const int64_t> rows,
                  const ChunkGetter& chunks, std::byte* out);

// Returns one row that shares the file's memory, or nothing if its values are not stored in their
// final form. Errors: those of `chunks`.
Result<std::optional<Array>> ShareRow(const ChunkedArray& array, int64_t row,
                                      const ChunkGetter& chunks);

}  // namespace stoker
