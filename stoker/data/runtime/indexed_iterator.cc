#include "stoker/data/runtime/indexed_iterator.h"

#include "stoker/data/saved_unsigned.h"

namespace stoker {

IndexedIterator::IndexedIterator(const OpenContext& context, const DatasetNode& node)
    : Iterator(context, node, Counting::kElsewhere),
      node_(node),
      tolerant_(context.tolerant()),
      epoch_(context.epoch()),
      tally_(pass()) {}

Result<std::optional<Element>> IndexedIterator::DoNext() {
  if (position_ >= node_.cardinality().value()) return std::nullopt;
  std::vector<LostElement> lost;
  const ReadContext context = ReadContext(pass(), epoch_, /*vectorized=*/false).WithLost(&lost);
  STOKER_ASSIGN_OR_RETURN(Element element, tolerant_ ? ReadTolerantly(node_, position_, context)
                                                     : node_.Read(position_, context));
  if (!lost.empty()) STOKER_RETURN_IF_ERROR(tally_.Add(lost));
  ++position_;
  return element;
}

Result<Json> IndexedIterator::DoSave() const {
  Json state = SavePosition(epoch_, position_);
  tally_.SaveTo(state);
  return state;
}

Status IndexedIterator::DoRestore(const Json& state) {
  STOKER_RETURN_IF_ERROR(tally_.RestoreFrom(state));
  return RestorePosition(state, node_.cardinality(), epoch_, position_);
}

Result<Element> ReadTolerantly(const DatasetNode& node, int64_t position,
                               const ReadContext& context) {
  Result<Element> element =
      CatchExceptions("reading", position, [&] { return node.Read(position, context); });
  if (element.ok() || !IsAboutOneElement(element.status())) return element;
  return FailedElement(element.status(),
                       FailureScope::Take({node.name(), {context.epoch(), position}}));
}

Json SavePosition(uint64_t epoch, int64_t position) {
  return {{"epoch", epoch}, {"position", position}};
}

Status RestorePosition(const Json& state, const Cardinality& cardinality, uint64_t& epoch,
                       int64_t& position) {
  STOKER_ASSIGN_OR_RETURN(const uint64_t saved_epoch, SavedUnsigned(state, "epoch"));
  STOKER_ASSIGN_OR_RETURN(const int64_t saved_position, SavedInteger(state, "position"));
  if (saved_position > cardinality.value()) {
    return OutOfRange(
        "the saved position is element {} of epoch {}, but the data have {} elements; have the "
        "data changed?",
        saved_position, saved_epoch, cardinality.ToString());
  }
  epoch = saved_epoch;
  position = saved_position;
  return OkStatus();
}

}  // namespace stoker
