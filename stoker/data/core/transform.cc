#include "stoker/data/core/transform.h"

#include <new>
#include <optional>
#include <utility>

#include "stoker/data/core/failure.h"
#include "stoker/data/core/row_stack.h"
#include "stoker/data/core/runtime.h"

namespace stoker {
namespace {

thread_local int64_t asked_bytes = 0;

}  // namespace

Array Scratch::NewRows(int64_t rows, DType dtype, const Shape& shape_of_one) {
  return NewArray(dtype, ShapeOfRows(rows, shape_of_one));
}

Array Scratch::NewArray(DType dtype, Shape shape) {
  // Shapes come from options and files: a size that wraps would be a small block.
  const std::optional<int64_t> bytes =
      MultiplySizes(NumValues(shape), static_cast<int64_t>(DTypeSize(dtype)));
  const std::optional<int64_t> rounded = AddSizes(bytes, int64_t{kBufferAlignment - 1});
  if (!rounded) throw std::bad_alloc();
  asked_bytes += *rounded / int64_t{kBufferAlignment} * int64_t{kBufferAlignment};
  return Array(pool_.Get(static_cast<size_t>(*bytes)), dtype, std::move(shape));
}

bool Scratch::stopped() const { return stop_ != nullptr && stop_->raised(); }

int64_t Scratch::BytesAskedByThisThread() { return asked_bytes; }

void Scratch::ForgetBytesAskedSince(int64_t before) { asked_bytes = before; }

Status Transform::ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const {
  const Spec no_names;
  RowStack stack(no_names, rows.size(), scratch);
  for (int64_t i = 0; i < rows.size(); ++i) {
    if (scratch.stopped()) return AskedToStop("map");
    Element element = rows.RowElement(i);
    Rng rng = rngs.For(element.key);
    STOKER_RETURN_IF_ERROR(Apply(element, rng, scratch));
    STOKER_RETURN_IF_ERROR(stack.Add(element));
  }
  rows = std::move(stack).Take();
  return OkStatus();
}

bool MayWriteInPlace(const Array& array) { return array.buffer().exclusive(); }

}  // namespace stoker
