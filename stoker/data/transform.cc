#include "stoker/data/transform.h"

namespace stoker {
namespace {

thread_local int64_t asked_bytes = 0;

}  // namespace

Array Scratch::NewArray(DType dtype, Shape shape) {
  const size_t bytes = static_cast<size_t>(NumValues(shape)) * DTypeSize(dtype);
  asked_bytes +=
      static_cast<int64_t>((bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment);
  return Array(pool_.Get(bytes), dtype, std::move(shape));
}

int64_t Scratch::BytesAskedByThisThread() { return asked_bytes; }

void Scratch::ForgetBytesAskedSince(int64_t before) { asked_bytes = before; }

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
