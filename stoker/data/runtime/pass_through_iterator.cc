#include "stoker/data/runtime/pass_through_iterator.h"

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
  STOKER_ASSIGN_OR_RETURN(iterator->input_, context.OpenInput(first.input()));
  return iterator;
}

Result<std::optional<Element>> PassThroughIterator::DoNext() {
  for (; read_again_ > 0; --read_again_) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> skipped, input_->Next());
    if (!skipped) return std::nullopt;
  }
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
  if (!element) return std::nullopt;
  const ReadContext context(pass(), element->key.epoch, /*vectorized=*/false);
  for (const DatasetNode* map : maps_)
    STOKER_RETURN_IF_ERROR(ApplyElementWise(*map, context, *element));
  if (maps_.empty()) context.stats(node_).AddElements(1, element->num_bytes());
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
