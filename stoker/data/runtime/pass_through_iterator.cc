#include "stoker/data/runtime/pass_through_iterator.h"

#include "stoker/data/failure.h"
#include "stoker/data/map.h"

namespace stoker {

std::vector<const DatasetNode*> ConsecutiveMaps(const DatasetNode& node) {
  std::vector<const DatasetNode*> maps;
  const DatasetNode* next = &node;
  while (next->element_wise() != nullptr && !next->random_access()) {
    maps.insert(maps.begin(), next);
    next = &next->input().node();
  }
  return maps;
}

Result<std::unique_ptr<Iterator>> PassThroughIterator::Open(const OpenContext& context,
                                                            const DatasetNode& node) {
  std::unique_ptr<PassThroughIterator> iterator(new PassThroughIterator(context, node));
  iterator->maps_ = ConsecutiveMaps(node);
  const DatasetNode& first = iterator->maps_.empty() ? node : *iterator->maps_.front();
  STOKER_ASSIGN_OR_RETURN(iterator->input_, context.OpenInputAlike(first.input()));
  return iterator;
}

Status ApplyMaps(const std::vector<const DatasetNode*>& maps, const ReadContext& context,
                 bool tolerant, Element& element) {
  for (const DatasetNode* map : maps) {
    if (element.failure) return OkStatus();
    const SampleKey key = element.key;
    const auto apply = [&] { return ApplyElementWise(*map, context, element); };
    const Status status = tolerant ? CatchExceptions("mapping", key.index, apply) : apply();
    if (status.ok()) continue;
    if (!tolerant || !IsAboutOneElement(status)) return status;
    element = FailedElement(status, {map->name(), key});
  }
  return OkStatus();
}

Result<std::optional<Element>> PassThroughIterator::DoNext() {
  Result<std::optional<Element>> element = NextMapped();
  failed_ = !element.ok();
  return element;
}

Result<std::optional<Element>> PassThroughIterator::NextMapped() {
  STOKER_RETURN_IF_ERROR(SaveInputIfDue());
  for (; taken_ < done_; ++taken_) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> skipped, input_->Next());
    if (!skipped) return std::nullopt;
  }
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
  if (!element) return std::nullopt;
  ++taken_;
  const ReadContext context(pass(), element->key.epoch, /*vectorized=*/false);
  STOKER_RETURN_IF_ERROR(ApplyMaps(maps_, context, tolerant_, *element));
  if (maps_.empty() && !element->failure) context.stats(node_).AddElements(1, element->num_bytes());
  ++done_;
  return element;
}

Status PassThroughIterator::SaveInputIfDue() {
  const bool due = saved_input_.is_null() || done_ >= kSnapshotInterval;
  if (!due || taken_ != done_) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(saved_input_, input_->Save());
  taken_ = done_ = 0;
  return OkStatus();
}

Result<Json> PassThroughIterator::DoSave() const {
  // The input itself may have failed, or be past the element that a map failed on.
  if (failed_ || taken_ != done_) return Json{{"input", saved_input_}, {"read_again", done_}};
  STOKER_ASSIGN_OR_RETURN(Json input, input_->Save());
  return Json{{"input", std::move(input)}, {"read_again", 0}};
}

Status PassThroughIterator::DoRestore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(done_, SavedInteger(state, "read_again"));
  STOKER_ASSIGN_OR_RETURN(saved_input_, SavedObject(state, "input"));
  return input_->Restore(saved_input_);
}

}  // namespace stoker
