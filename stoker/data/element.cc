#include "stoker/data/element.h"

#include <cstring>

#include "stoker/data/transform.h"

namespace stoker {
namespace {

Shape WithLeading(int64_t n, const Shape& shape) {
  Shape out = shape;
  out.insert(out.begin(), n);
  return out;
}

std::string FieldName(const Spec& spec, size_t field) {
  return field < spec.fields.size() ? fmt::format("'{}'", spec.fields[field].name)
                                    : fmt::format("{}", field);
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
  const Element& first = elements.front();
  Rows rows;
  rows.keys.reserve(elements.size());
  for (const Element& element : elements) rows.keys.push_back(element.key);
  for (size_t f = 0; f < first.arrays.size(); ++f) {
    const Array& model = first.arrays[f];
    Array column =
        scratch.NewArray(model.dtype(), WithLeading(std::ssize(elements), model.shape()));
    std::byte* out = column.data();
    for (const Element& element : elements) {
      const Array& array = element.arrays[f];
      if (array.dtype() != model.dtype() || array.shape() != model.shape()) {
        return InvalidArgument(
            "element {}: field {} is {}, but element {} has {}; elements of one batch must agree: "
            "resize, crop or pad first",
            element.key.index, FieldName(spec, f), array.ToString(), first.key.index,
            model.ToString());
      }
      if (array.num_bytes() > 0) std::memcpy(out, array.data(), array.num_bytes());
      out += array.num_bytes();
    }
    rows.columns.push_back(std::move(column));
  }
  return rows;
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
  return {.key = key, .arrays = std::move(rows.columns)};
}

}  // namespace stoker
