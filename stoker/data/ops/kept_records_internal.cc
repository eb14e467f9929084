#include "stoker/data/ops/kept_records_internal.h"

#include <cstring>
#include <utility>

#include "stoker/data/core/key_lists.h"
#include "stoker/data/core/transform.h"

namespace stoker {
namespace {

// Records that will be copied soon are asked for this many records ahead.
constexpr size_t kPrefetchRecords = 8;

}  // namespace

Element AsElement(ElementLayout::Record record, uint64_t epoch) {
  return {.key = {epoch, record.index}, .arrays = std::move(record.arrays)};
}

Rows GatherRecords(const ElementLayout& layout, std::span<const std::byte* const> records,
                   uint64_t epoch, Scratch& scratch) {
  Rows rows;
  rows.keys = EmptyKeyList(records.size());
  for (const std::byte* record : records)
    rows.keys.push_back({epoch, ElementLayout::IndexOf(record)});
  for (size_t f = 0; f < layout.fields().size(); ++f) {
    const ElementField& field = layout.fields()[f];
    Array column = scratch.NewRows(std::ssize(records), field.dtype, field.shape);
    const size_t offset = (*layout.offsets())[f];
    const size_t bytes = column.num_bytes() / records.size();
    for (size_t i = 0; i < records.size() && bytes > 0; ++i) {
      if (i + kPrefetchRecords < records.size())
        __builtin_prefetch(records[i + kPrefetchRecords] + offset);
      std::memcpy(column.data() + i * bytes, records[i] + offset, bytes);
    }
    rows.columns.push_back(std::move(column));
  }
  return rows;
}

}  // namespace stoker
