#include "stoker/formats/chunked/row_gather.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

// The chunks that rows of one row of chunks lie in, and what a row takes of each.
class RowCopier {
 public:
  RowCopier(const ChunkedArray& array, const ChunkGetter& chunks)
      : layout_(array.layout()),
        array_(array),
        chunks_(chunks),
        across_(array.grid().front() == 0 ? 0 : array.chunks() / array.grid().front()) {}

  Status Copy(int64_t row, std::byte* out) {
    const int64_t chunk_row = row / layout_.chunk_shape.front();
    if (chunk_row != chunk_row_) {
      STOKER_RETURN_IF_ERROR(Fetch(chunk_row));
    }
    if (whole_rows_) {
      const auto in_chunk = static_cast<size_t>(row % layout_.chunk_shape.front());
      return held_.front().Copy(in_chunk * array_.stored_row_bytes(), array_.stored_row_bytes(),
                                out);
    }
    for (int64_t tile = 0; tile < across_; ++tile)
      STOKER_RETURN_IF_ERROR(CopyTile(tile, row % layout_.chunk_shape.front(), out));
    return OkStatus();
  }

 private:
  Status Fetch(int64_t chunk_row) {
    held_.assign(static_cast<size_t>(across_), {});  // lets go of those of the row before
    chunk_row_ = -1;
    for (int64_t tile = 0; tile < across_; ++tile) {
      STOKER_ASSIGN_OR_RETURN(held_[static_cast<size_t>(tile)],
                              chunks_(chunk_row * across_ + tile));
    }
    chunk_row_ = chunk_row;
    const StoredChunk& first = held_.front();
    whole_rows_ = across_ == 1 && first.data != nullptr &&
                  std::equal(layout_.shape.begin() + 1, layout_.shape.end(),
                             first.shape.begin() + 1, first.shape.end());
    return OkStatus();
  }

  // What one tile has of a row is a box; it is copied run by run, each contiguous in both.
  Status CopyTile(int64_t tile, int64_t row_in_chunk, std::byte* out) const {
    const StoredChunk& chunk = held_[static_cast<size_t>(tile)];
    const size_t rank = layout_.shape.size();
    Shape first(rank), extent(rank, 1);  // of the box, in the array
    for (size_t d = rank; d-- > 1;) {
      const int64_t at = tile % array_.grid()[d];
      tile /= array_.grid()[d];
      first[d] = at * layout_.chunk_shape[d];
      extent[d] = std::min(layout_.chunk_shape[d], layout_.shape[d] - first[d]);
    }
    // Dimensions from `whole` on are contiguous in both, the one before them in part.
    size_t whole = rank;
    int64_t run = 1;
    while (whole > 1) {
      --whole;
      run *= extent[whole];
      const bool full = extent[whole] == layout_.shape[whole] &&
                        (chunk.data == nullptr || extent[whole] == chunk.shape[whole]);
      if (!full) break;
    }
    Shape at(rank, 0);
    while (true) {
      int64_t to = 0, from = row_in_chunk;
      for (size_t d = 1; d < rank; ++d) {
        to = to * layout_.shape[d] + first[d] + at[d];
        if (chunk.data != nullptr) from = from * chunk.shape[d] + at[d];
      }
      STOKER_RETURN_IF_ERROR(
          CopyRun(chunk, from, run, out + static_cast<size_t>(to) * layout_.value_bytes));
      size_t d = whole;
      while (d > 1 && ++at[d - 1] == extent[d - 1]) at[--d] = 0;
      if (d <= 1) return OkStatus();
    }
  }

  Status CopyRun(const StoredChunk& chunk, int64_t from, int64_t values, std::byte* to) const {
    const size_t size = layout_.value_bytes, bytes = static_cast<size_t>(values) * size;
    if (chunk.data != nullptr) {
      return chunk.Copy(static_cast<size_t>(from) * size, bytes, to);
    }
    if (layout_.fill.empty()) {
      std::memset(to, 0, bytes);
    } else {
      for (size_t at = 0; at < bytes; at += size) std::memcpy(to + at, layout_.fill.data(), size);
    }
    return OkStatus();
  }

  const ChunkedLayout& layout_;
  const ChunkedArray& array_;
  const ChunkGetter& chunks_;
  const int64_t across_;  // chunks of one row
  int64_t chunk_row_ = -1;
  std::vector<StoredChunk> held_;  // of chunk_row_
  bool whole_rows_ = false;        // rows lie in it as they are wanted
};

}  // namespace

Status GatherRows(const ChunkedArray& array, std::span<const int64_t> rows,
                  const ChunkGetter& chunks, std::byte* out) {
  if (array.stored_row_bytes() == 0) return OkStatus();
  RowCopier copier(array, chunks);
  for (const int64_t row : rows) {
    STOKER_RETURN_IF_ERROR(copier.Copy(row, out));
    out += array.stored_row_bytes();
  }
  return OkStatus();
}

Result<std::optional<Array>> ShareRow(const ChunkedArray& array, int64_t row,
                                      const ChunkGetter& chunks) {
  const ChunkedLayout& layout = array.layout();
  if (layout.form != RowForm::kValues || !layout.value.IsNative() || array.stored_row_bytes() == 0)
    return std::nullopt;
  if (!std::equal(layout.shape.begin() + 1, layout.shape.end(), layout.chunk_shape.begin() + 1))
    return std::nullopt;
  STOKER_ASSIGN_OR_RETURN(const StoredChunk chunk, chunks(row / layout.chunk_shape.front()));
  if (chunk.data == nullptr || !chunk.mapped || chunk.unloaded != nullptr) return std::nullopt;
  const std::byte* const values =
      chunk.data + static_cast<size_t>(row % layout.chunk_shape.front()) * array.stored_row_bytes();
  if (reinterpret_cast<uintptr_t>(values) % layout.value_bytes != 0) return std::nullopt;
  return Array(chunk.owner, layout.dtype, layout.row_shape,
               static_cast<size_t>(values - chunk.owner.data()));
}

}  // namespace stoker
