#include "stoker/data/runtime/indexed_iterator.h"

#include "stoker/data/core/failure.h"
#include "stoker/data/core/saved_unsigned.h"

namespace stoker {

IndexedIterator::IndexedIterator(const OpenContext& context, const DatasetNode& node)
    : Iterator(context, node, Counting::kElsewhere),
      node_(node),
      stop_(context.stop()),
      tolerant_(context.tolerant()),
      epoch_(context.epoch()),
      tally_(pass()) {}

Result<std::optional<Element>> IndexedIterator::DoNext() {
  const int64_t position = done_.frontier();
  if (position >= node_.cardinality().value()) return std::nullopt;
  std::vector<LostElement> lost;
  const ReadContext context =
      ReadContext(pass(), epoch_, /*vectorized=*/false, stop_.get()).WithLost(&lost);
  STOKER_ASSIGN_OR_RETURN(Element element, tolerant_ ? ReadTolerantly(node_, position, context)
                                                     : node_.Read(position, context));
  if (!lost.empty()) STOKER_RETURN_IF_ERROR(tally_.Add(lost));
  done_.Add(position, position + 1);
  return element;
}

Result<Json> IndexedIterator::DoSave() const {
  Json state = SavePosition(epoch_, done_);
  tally_.SaveTo(state);
  return state;
}

Status IndexedIterator::DoRestore(const Json& state) {
  STOKER_RETURN_IF_ERROR(tally_.RestoreFrom(state));
  STOKER_ASSIGN_OR_RETURN(done_, RestorePosition(state, node_.cardinality(), epoch_));
  return OkStatus();
}

Result<Element> ReadTolerantly(const DatasetNode& node, int64_t position,
                               const ReadContext& context) {
  Result<Element> element =
      CatchExceptions([&] { return node.Read(position, context); }, "reading element {}", position);
  if (element.ok() || !IsAboutOneElement(element.status())) return element;
  if (context.stopped()) return AskedToStop(node.name());  // whatever it made of being stopped
  return FailedElement(element.status(),
                       FailureScope::Take({node.name(), {context.epoch(), position}}));
}

Json SavePosition(uint64_t epoch, const Delivered& done) {
  Json state{{"epoch", epoch}, {"position", done.frontier()}};
  done.SaveBeyond(0, state);
  return state;
}

Result<Delivered> RestorePosition(const Json& state, const Cardinality& cardinality,
                                  uint64_t& epoch) {
  STOKER_ASSIGN_OR_RETURN(const uint64_t saved_epoch, SavedUnsigned(state, "epoch"));
  STOKER_ASSIGN_OR_RETURN(const int64_t saved_position, SavedInteger(state, "position"));
  STOKER_ASSIGN_OR_RETURN(Delivered done, Delivered::Restore(saved_position, state));
  if (done.end() > cardinality.value()) {
    return OutOfRange(
        "the saved position is element {} of epoch {}, but the data have {} elements; have the "
        "data changed?",
        done.end(), saved_epoch, cardinality.ToString());
  }
  epoch = saved_epoch;
  return done;
}

}  // namespace stoker
