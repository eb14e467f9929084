#include "stoker/formats/chunked/chunked_array.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "stoker/formats/chunked/inflate_block.h"

namespace stoker {
namespace {

constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();

// The product, or nothing if no machine can address as much.
std::optional<uint64_t> Product(std::span<const int64_t> extents, uint64_t start) {
  uint64_t product = start;
  for (const int64_t extent : extents) {
    const auto factor = static_cast<uint64_t>(std::max<int64_t>(extent, 1));
    if (product > kMost / factor) return std::nullopt;
    product *= factor;
  }
  return product;
}

}  // namespace

ChunkGridSizes::ChunkGridSizes(const ChunkedLayout& layout) {
  for (size_t d = 0; d < layout.shape.size(); ++d) {
    const int64_t chunk = layout.chunk_shape[d];
    grid.push_back(layout.shape[d] / chunk + (layout.shape[d] % chunk != 0 ? 1 : 0));
    chunks *= grid.back();
  }
  chunk_bytes = static_cast<uint64_t>(NumValues(layout.chunk_shape)) * layout.value_bytes;
  stored_row_bytes = layout.value_bytes;
  for (size_t d = 1; d < layout.shape.size(); ++d)
    stored_row_bytes *= static_cast<size_t>(layout.shape[d]);
}

Array NewArrayOfNobody(DType dtype, Shape shape) {
  return Array::Allocate(dtype, std::move(shape));
}

Status StoredChunk::Copy(size_t offset, size_t bytes, std::byte* to) const {
  if (unloaded != nullptr) {
    const auto at = static_cast<uint64_t>(data - unloaded->bytes().data());
    return unloaded->ReadAt(at + offset, {to, bytes});
  }
  std::memcpy(to, data + offset, bytes);
  return OkStatus();
}

Result<Array> ChunkedArray::Follow(std::span<const std::byte>, const NewArray&) const {
  return Internal("{}: its rows are values", name());
}

Status CheckLayout(const ChunkedLayout& layout, uint64_t file_bytes) {
  if (layout.shape.empty()) {
    return InvalidArgument("{}: it is a single value; elements lie along its first dimension",
                           layout.name);
  }
  const auto size_is_too_large = [&](std::string_view what, const Shape& shape) {
    return DataLoss("{}: {} of {} values of {} bytes is more than can be; the file is damaged",
                    layout.name, what, ShapeToString(shape), layout.value_bytes);
  };
  if (!Product(layout.shape, layout.value_bytes))
    return size_is_too_large("an array", layout.shape);
  if (!Product(layout.chunk_shape, layout.value_bytes))
    return size_is_too_large("a chunk", layout.chunk_shape);
  // Rows that were never written are made of the fill value, so they need not be in the file.
  constexpr uint64_t kSmallRow = 64 << 20;
  const std::optional<uint64_t> row =
      Product(std::span(layout.shape).subspan(1), std::max<uint64_t>(layout.value_bytes, 8));
  if (!row || *row / (8 * kDeflateMostGrowth) > file_bytes + kSmallRow / kDeflateMostGrowth)
    return size_is_too_large("a row", Shape(layout.shape.begin() + 1, layout.shape.end()));
  if (layout.form != RowForm::kValues && layout.shape.size() > 1) {
    return Unimplemented("{}: rows of several texts or lists are not read; one a row is",
                         layout.name);
  }
  return OkStatus();
}

}  // namespace stoker
