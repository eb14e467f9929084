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

Result<Json> IndexedIterator::DoSave() const {
  return SavePosition(pass().seed(), epoch_, position_);
}

Status IndexedIterator::DoRestore(const Json& state) {
  return RestorePosition(state, pass().seed(), node_.cardinality(), epoch_, position_);
}

Json SavePosition(uint64_t seed, uint64_t epoch, int64_t position) {
  return {{"seed", seed}, {"epoch", epoch}, {"position", position}};
}

Status RestorePosition(const Json& state, uint64_t seed, const Cardinality& cardinality,
                       uint64_t& epoch, int64_t& position) {
  STOKER_ASSIGN_OR_RETURN(const int64_t saved_seed, SavedInteger(state, "seed"));
  STOKER_ASSIGN_OR_RETURN(const int64_t saved_epoch, SavedInteger(state, "epoch"));
  STOKER_ASSIGN_OR_RETURN(const int64_t saved_position, SavedInteger(state, "position"));
  if (static_cast<uint64_t>(saved_seed) != seed) {
    return FailedPrecondition(
        "the position was saved with seed {}, this pass has seed {}; the order would differ, use "
        "the same seed",
        static_cast<uint64_t>(saved_seed), seed);
  }
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
