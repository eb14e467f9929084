#include "stoker/data/from_arrays.h"

#include <algorithm>
#include <cstring>

#include "stoker/data/array_table_node.h"
#include "stoker/data/transform.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

// Rows that will be copied soon are asked for this many rows ahead: shuffled rows come from memory,
// not from the cache.
constexpr size_t kPrefetchRows = 4;
constexpr size_t kCacheLine = 64;

void PrefetchRow(const std::byte* row, size_t bytes) {
  for (size_t offset = 0; offset < bytes; offset += kCacheLine) __builtin_prefetch(row + offset);
}

class ArraysNode final : public ArrayTableNode {
 public:
  ArraysNode(std::string name, Spec spec, std::vector<Array> arrays)
      : ArrayTableNode(std::move(name), std::move(spec), Cardinality::Of(arrays.front().shape()[0]),
                       {}),
        table_(std::move(arrays)) {}

  const ArrayTable& table() const override { return table_; }

 private:
  const ArrayTable table_;
};

// Row i of the result is row positions[i] of `from`.
Array GatherRows(const Array& from, std::span<const int64_t> positions, Scratch& scratch) {
  Shape shape = from.shape();
  const size_t row_bytes = from.num_bytes() / static_cast<size_t>(std::max<int64_t>(shape[0], 1));
  shape[0] = std::ssize(positions);
  Array out = scratch.NewArray(from.dtype(), std::move(shape));
  if (row_bytes == 0) return out;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (i + kPrefetchRows < positions.size()) {
      PrefetchRow(from.data() + static_cast<size_t>(positions[i + kPrefetchRows]) * row_bytes,
                  row_bytes);
    }
    std::memcpy(out.data() + i * row_bytes,
                from.data() + static_cast<size_t>(positions[i]) * row_bytes, row_bytes);
  }
  return out;
}

}  // namespace

Element ArrayTable::Read(int64_t position, uint64_t epoch) const {
  Element element{.key = {epoch, position}, .arrays = {}};
  for (const Array& column : columns_) element.arrays.push_back(column.Row(position));
  return element;
}

Rows ArrayTable::ReadRows(std::span<const int64_t> positions, uint64_t epoch,
                          Scratch& scratch) const {
  Rows rows;
  rows.keys.reserve(positions.size());
  for (const int64_t position : positions) rows.keys.push_back({epoch, position});
  for (const Array& column : columns_)
    rows.columns.push_back(GatherRows(column, positions, scratch));
  return rows;
}

Result<Dataset> FromArrays(std::vector<std::pair<std::string, Array>> fields, std::string name) {
  if (fields.empty()) return InvalidArgument("{}: no arrays are given; give at least one", name);
  Spec spec;
  std::vector<Array> arrays;
  for (auto& [field, array] : fields) {
    if (std::ranges::find(spec.fields, field, &Field::name) != spec.fields.end()) {
      return InvalidArgument("{}: two fields are called '{}'; give each a name of its own", name,
                             field);
    }
    if (array.shape().empty())
      return InvalidArgument("{}: '{}' is a scalar; elements lie along the first dimension", name,
                             field);
    if (array.shape()[0] != fields.front().second.shape()[0]) {
      return InvalidArgument("{}: '{}' has {} elements, '{}' has {}; they must agree", name, field,
                             array.shape()[0], fields.front().first,
                             fields.front().second.shape()[0]);
    }
    spec.fields.push_back(
        {field, array.dtype(), Shape(array.shape().begin() + 1, array.shape().end())});
    arrays.push_back(array);
  }
  return Dataset(std::make_shared<ArraysNode>(std::move(name), std::move(spec), std::move(arrays)));
}

std::optional<uint32_t> ChecksumOfArrays(const DatasetNode& node) {
  const auto* arrays = dynamic_cast<const ArraysNode*>(&node);
  if (arrays == nullptr) return std::nullopt;
  uint32_t checksum = 0;
  for (const Array& column : arrays->table().columns())
    checksum = Crc32c(std::span<const std::byte>(column.data(), column.num_bytes()), checksum);
  return checksum;
}

}  // namespace stoker
