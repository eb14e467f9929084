#include "stoker/data/core/row_stack.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "stoker/data/core/key_lists.h"
#include "stoker/data/core/transform.h"

namespace stoker {
namespace {

bool IsRowOf(const Array& column, const Array& array) {
  return column.dtype() == array.dtype() &&
         std::ranges::equal(std::span(column.shape()).subspan(1), array.shape());
}

}  // namespace

RowStack::RowStack(const Spec& spec, int64_t capacity, Scratch& scratch)
    : spec_(spec), capacity_(capacity), scratch_(scratch) {
  rows_.keys = EmptyKeyList(static_cast<size_t>(capacity));
}

void RowStack::MakeColumns(const Element& first) {
  rows_.columns.reserve(first.arrays.size());
  for (const Array& array : first.arrays)
    rows_.columns.push_back(scratch_.NewRows(capacity_, array.dtype(), array.shape()));
}

Status RowStack::Add(const Element& element) {
  if (rows_.keys.empty()) MakeColumns(element);
  if (element.arrays.size() != rows_.columns.size()) {
    return InvalidArgument("element {} has {} fields, but element {} has {}", element.key.index,
                           element.arrays.size(), rows_.keys.front().index, rows_.columns.size());
  }
  for (size_t f = 0; f < rows_.columns.size(); ++f) {
    const Array& column = rows_.columns[f];
    const Array& array = element.arrays[f];
    if (!IsRowOf(column, array)) return Disagreement(element, f);
    const size_t bytes = array.num_bytes();
    if (bytes > 0) std::memcpy(column.data() + rows_.keys.size() * bytes, array.data(), bytes);
  }
  rows_.keys.push_back(element.key);
  return OkStatus();
}

Status RowStack::Disagreement(const Element& element, size_t field) const {
  return InvalidArgument(
      "element {}: field {} is {}, but element {} has {}; "
      "elements of one batch must agree: resize, crop or pad first",
      element.key.index,
      field < spec_.fields.size() ? fmt::format("'{}'", spec_.fields[field].name)
                                  : fmt::format("{}", field),
      element.arrays[field].ToString(), rows_.keys.front().index,
      rows_.columns[field].Row(0).ToString());
}

Rows RowStack::Take() && { return std::move(rows_); }

}  // namespace stoker
