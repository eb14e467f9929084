#include "stoker/data/runtime/pass_through_iterator.h"

namespace stoker {

PassThroughIterator::PassThroughIterator(const OpenContext& context, const DatasetNode& node,
                                         std::unique_ptr<Iterator> input, Counting counting)
    : Iterator(context, node, counting), input_(std::move(input)) {}

Result<std::optional<Element>> PassThroughIterator::DoNext() {
  for (; read_again_ > 0; --read_again_) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> skipped, input_->Next());
    if (!skipped) return std::nullopt;
  }
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
  if (element) STOKER_RETURN_IF_ERROR(Change(*element));
  return element;
}

Result<Json> PassThroughIterator::DoSave() const {
  STOKER_ASSIGN_OR_RETURN(Json input, input_->Save());
  return Json{{"input", std::move(input)}, {"read_again", read_again_}};
}

Status PassThroughIterator::DoRestore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(read_again_, SavedInteger(state, "read_again"));
  STOKER_ASSIGN_OR_RETURN(const Json input, SavedObject(state, "input"));
  return input_->Restore(input);
}

}  // namespace stoker
