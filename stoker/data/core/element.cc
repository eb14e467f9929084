#include "stoker/data/core/element.h"

#include <cstring>

#include "stoker/data/core/key_lists.h"
#include "stoker/data/core/row_stack.h"
#include "stoker/data/core/transform.h"

namespace stoker {
namespace {

Shape WithLeading(int64_t n, const Shape& shape) {
  Shape out;
  out.reserve(shape.size() + 1);
  out.push_back(n);
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

}  // namespace

int64_t Element::num_bytes() const {
  int64_t bytes = 0;
  for (const Array& array : arrays) bytes += static_cast<int64_t>(array.num_bytes());
  return bytes;
}

int64_t UnchargedBytes(std::span<const Array> arrays) {
  int64_t bytes = 0;
  for (const Array& array : arrays) {
    if (!array.buffer().charged()) bytes += static_cast<int64_t>(array.num_bytes());
  }
  return bytes;
}

int64_t Rows::num_bytes() const {
  int64_t bytes = 0;
  for (const Array& column : columns) bytes += static_cast<int64_t>(column.num_bytes());
  return bytes;
}

Element Rows::RowElement(int64_t i) const {
  Element element{.key = keys[static_cast<size_t>(i)], .arrays = {}};
  element.arrays.reserve(columns.size());
  for (const Array& column : columns) element.arrays.push_back(column.Row(i));
  return element;
}

Rows Rows::Slice(int64_t begin, int64_t end) const {
  Rows slice{.keys = {keys.begin() + begin, keys.begin() + end}, .columns = {}};
  slice.columns.reserve(columns.size());
  for (const Array& column : columns) slice.columns.push_back(column.Rows(begin, end));
  return slice;
}

Result<Rows> StackElements(const Spec& spec, std::span<const Element> elements, Scratch& scratch) {
  RowStack stack(spec, std::ssize(elements), scratch);
  for (const Element& element : elements) STOKER_RETURN_IF_ERROR(stack.Add(element));
  return std::move(stack).Take();
}

Rows ElementAsRows(Element element) {
  Rows rows{.keys = {element.key}, .columns = std::move(element.arrays)};
  for (Array& column : rows.columns) column = column.Reshaped(WithLeading(1, column.shape()));
  return rows;
}

Rows ConcatenateRows(std::span<const Rows> parts, Scratch& scratch) {
  Rows all;
  for (const Rows& part : parts)
    all.keys.insert(all.keys.end(), part.keys.begin(), part.keys.end());
  for (size_t c = 0; c < parts.front().columns.size(); ++c) {
    const Array& model = parts.front().columns[c];
    Shape shape = model.shape();
    shape[0] = all.size();
    Array column = scratch.NewArray(model.dtype(), std::move(shape));
    std::byte* out = column.data();
    for (const Rows& part : parts) {
      const size_t bytes = part.columns[c].num_bytes();
      if (bytes > 0) std::memcpy(out, part.columns[c].data(), bytes);
      out += bytes;
    }
    all.columns.push_back(std::move(column));
  }
  return all;
}

Element RowsAsElement(Rows rows, SampleKey key) {
  DropKeyList(std::move(rows.keys));
  return {.key = key, .arrays = std::move(rows.columns)};
}

}  // namespace stoker
