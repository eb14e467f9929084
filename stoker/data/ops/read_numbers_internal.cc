#include "stoker/data/ops/read_numbers_internal.h"

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/image/cast.h"

namespace stoker {

Status CheckNumbersCanBeRead(std::string_view who, const Dataset& input, const std::string& field,
                             bool integers) {
  STOKER_ASSIGN_OR_RETURN(const size_t index, input.spec().IndexOf(who, field));
  const Field& found = input.spec().fields[index];
  if (!IsFullyKnown(found.shape) || NumValues(found.shape) != 1) {
    return InvalidArgument(
        "{}: field '{}' has shape {}, but one number is needed for each element; put {} before "
        "batch and one_hot",
        who, field, ShapeToString(found.shape), who);
  }
  if (integers && IsFloating(found.dtype)) {
    return InvalidArgument("{}: field '{}' is {}, class numbers must be integers", who, field,
                           DTypeName(found.dtype));
  }
  if (!input.node().fixed_order()) {
    return InvalidArgument(
        "{}: the elements of '{}' do not stand in the same order in every pass, so what is learnt "
        "of them once does not hold; put {} before it (its own order is random already)",
        who, input.node().name(), who);
  }
  return OkStatus();
}

template <typename T>
Result<std::vector<T>> ReadNumbers(const DatasetNode& node, const std::string& field,
                                   const OpenContext& context) {
  const Dataset& input = node.input();
  const Pass& pass = *context.pass();
  STOKER_ASSIGN_OR_RETURN(const size_t index, input.spec().IndexOf(node.name(), field));
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> elements,
                          context.OpenChild(node, input, /*number=*/0, pass.runtime().threads));
  std::vector<T> numbers;
  numbers.reserve(static_cast<size_t>(input.cardinality().value()));
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, elements->Next());
    if (!element) break;
    const Array& array = element->arrays[index];
    T number;
    CastValues(array.dtype(), array.data(), 1, DTypeOf<T>(), reinterpret_cast<std::byte*>(&number));
    numbers.push_back(number);
  }
  elements.reset();
  pass.TrimPools();  // the pass itself needs other buffers
  return numbers;
}

template Result<std::vector<int64_t>> ReadNumbers(const DatasetNode&, const std::string&,
                                                  const OpenContext&);
template Result<std::vector<double>> ReadNumbers(const DatasetNode&, const std::string&,
                                                 const OpenContext&);

}  // namespace stoker
