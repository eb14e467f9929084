#include "stoker/data/runtime/indexed_iterator.h"

namespace stoker {

IndexedIterator::IndexedIterator(const OpenContext& context, const DatasetNode& node)
    : Iterator(context, node, Counting::kElsewhere), node_(node), epoch_(context.epoch()) {}

Result<std::optional<Element>> IndexedIterator::DoNext() {
  if (position_ >= node_.cardinality().value()) return std::nullopt;
  STOKER_ASSIGN_OR_RETURN(Element element,
                          node_.Read(position_, ReadContext(pass(), epoch_, /*vectorized=*/false)));
  ++position_;
  return element;
}

Result<Json> IndexedIterator::DoSave() const { return SavePosition(epoch_, position_); }

Status IndexedIterator::DoRestore(const Json& state) {
  return RestorePosition(state, node_.cardinality(), epoch_, position_);
}

Json SavePosition(uint64_t epoch, int64_t position) {
  return {{"epoch", epoch}, {"position", position}};
}

Status RestorePosition(const Json& state, const Cardinality& cardinality, uint64_t& epoch,
                       int64_t& position) {
  STOKER_ASSIGN_OR_RETURN(const int64_t saved_epoch, SavedInteger(state, "epoch"));
  STOKER_ASSIGN_OR_RETURN(const int64_t saved_position, SavedInteger(state, "position"));
  if (saved_position > cardinality.value()) {
    return OutOfRange(
        "the saved position is element {} of epoch {}, but the data have {} elements; have the "
        "data changed?",
        saved_position, saved_epoch, cardinality.ToString());
  }
  epoch = static_cast<uint64_t>(saved_epoch);
  position = saved_position;
  return OkStatus();
}

}  // namespace stoker
