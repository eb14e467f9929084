#include "stoker/data/nodes/from_arrays.h"

#include <algorithm>
#include <array>

#include "stoker/data/core/copy_runs.h"
#include "stoker/data/core/key_lists.h"
#include "stoker/data/core/transform.h"
#include "stoker/data/nodes/array_table_node.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

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

constexpr size_t kRunsAtOnce = 128;  // a batch's, mostly

// Rows of `row_bytes` that lie from `rows` on, consecutive ones as one run: of the first positions,
// as many as `runs` has room for; those are taken off. Gives how many runs.
size_t FindRuns(std::span<const int64_t>& positions, const std::byte* rows, size_t row_bytes,
                std::span<MemoryRun> runs) {
  size_t found = 0;
  for (; !positions.empty(); positions = positions.subspan(1)) {
    const std::byte* const row = rows + static_cast<size_t>(positions.front()) * row_bytes;
    if (found > 0 && runs[found - 1].from + runs[found - 1].bytes == row) {
      runs[found - 1].bytes += row_bytes;
    } else if (found < runs.size()) {
      runs[found++] = {row, row_bytes};
    } else {
      break;
    }
  }
  return found;
}

// Row i of the result is row positions[i] of `from`.
Array GatherRows(const Array& from, std::span<const int64_t> positions, Scratch& scratch) {
  Shape shape = from.shape();
  const size_t row_bytes = from.num_bytes() / static_cast<size_t>(std::max<int64_t>(shape[0], 1));
  shape[0] = std::ssize(positions);
  Array out = scratch.NewArray(from.dtype(), std::move(shape));
  std::byte* to = out.data();
  std::array<MemoryRun, kRunsAtOnce> room;  // on the stack: malloc takes a lock for so large a list
  while (!positions.empty()) {
    const size_t before = positions.size();
    const size_t found = FindRuns(positions, from.data(), row_bytes, room);
    CopyRuns(std::span(room).first(found), to);
    to += (before - positions.size()) * row_bytes;
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
  rows.keys = KeysAt(positions, epoch);
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
