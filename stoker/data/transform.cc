#include "stoker/data/transform.h"

namespace stoker {

Array Scratch::NewArray(DType dtype, Shape shape) {
  const size_t bytes = static_cast<size_t>(NumValues(shape)) * DTypeSize(dtype);
  return Array(pool_.Get(bytes), dtype, std::move(shape));
}

Status Transform::ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const {
  std::vector<Element> elements;
  elements.reserve(rows.keys.size());
  for (int64_t i = 0; i < rows.size(); ++i) {
    Element element = rows.RowElement(i);
    Rng rng = rngs.For(element.key);
    STOKER_RETURN_IF_ERROR(Apply(element, rng, scratch));
    elements.push_back(std::move(element));
  }
  STOKER_ASSIGN_OR_RETURN(rows, StackElements(Spec{}, elements, scratch));
  return OkStatus();
}

bool MayWriteInPlace(const Array& array) { return array.buffer().exclusive(); }

}  // namespace stoker
