#include "stoker/data/runtime/pass_through_iterator.h"

#include "stoker/data/core/loss_log.h"
#include "stoker/data/runtime/hop.h"

namespace stoker {

Result<std::unique_ptr<Iterator>> PassThroughIterator::Open(const OpenContext& context,
                                                            const DatasetNode& node) {
  std::unique_ptr<PassThroughIterator> iterator(new PassThroughIterator(context, node));
  iterator->stages_ = StagesOfHop(node);
  const bool any_order = HopInAnyOrder(context, iterator->stages_);
  STOKER_ASSIGN_OR_RETURN(HopInput input,
                          OpenHopInput(context, iterator->stages_.front()->input(), any_order));
  iterator->input_ = std::move(input.iterator);
  iterator->pace_ = input.pace;
  return iterator;
}

Result<std::optional<Element>> PassThroughIterator::DoNext() {
  Result<std::optional<Element>> element = NextMapped();
  failed_ = !element.ok();
  return element;
}

Result<std::optional<Element>> PassThroughIterator::NextMapped() {
  STOKER_RETURN_IF_ERROR(SaveInputIfDue());
  for (; taken_ < done_.frontier(); ++taken_) {
    const LossScope logged_before;
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> skipped, input_->Next());
    if (!skipped) return std::nullopt;
  }
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
  if (!element) return std::nullopt;
  const int64_t position = taken_++;
  const ReadContext context(pass(), element->key.epoch, /*vectorized=*/false);
  STOKER_RETURN_IF_ERROR(ApplyHop(stages_, context, tolerant_, *element));
  done_.Add(position, position + 1);
  return element;
}

Status PassThroughIterator::SaveInputIfDue() {
  if (!saved_input_.is_null()) {
    if (taken_ != done_.frontier() || done_.has_beyond()) return OkStatus();
    if (!pace_.IsDue(taken_)) return OkStatus();
  }
  STOKER_ASSIGN_OR_RETURN(saved_input_, pace_.Save(*input_));
  taken_ = 0;
  done_ = Delivered();
  return OkStatus();
}

Result<Json> PassThroughIterator::DoSave() const {
  // The input itself may have failed, or be past the element that a map failed on.
  const bool exact = !failed_ && taken_ == done_.frontier() && !done_.has_beyond();
  Json state{{"input", saved_input_}, {"read_again", exact ? 0 : done_.frontier()}};
  if (exact) {
    STOKER_ASSIGN_OR_RETURN(state["input"], input_->Save());
  } else {
    done_.SaveBeyond(0, state);
  }
  return state;
}

Status PassThroughIterator::DoRestore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(const int64_t read_again, SavedInteger(state, "read_again"));
  STOKER_ASSIGN_OR_RETURN(done_, Delivered::Restore(read_again, state));
  STOKER_ASSIGN_OR_RETURN(saved_input_, SavedObject(state, "input"));
  return input_->Restore(saved_input_);
}

}  // namespace stoker
