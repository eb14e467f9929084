#include "stoker/data/ops/drawn_internal.h"

#include "stoker/base/stop_scope.h"
#include "stoker/data/core/check_key.h"
#include "stoker/data/ops/own_seed_internal.h"

namespace stoker {

Result<int64_t> CountDraws(std::string_view who, const Dataset& input,
                           const std::optional<int64_t>& count) {
  if (!input.node().random_access()) {
    return InvalidArgument(
        "{}: '{}' can only be read in order, but drawing takes elements from anywhere; put {} "
        "after a source that is readable by position",
        who, input.node().name(), who);
  }
  const Cardinality n = input.cardinality();
  if (n.infinite())
    return InvalidArgument("{}: the input has no end; put repeat after {}", who, who);
  const int64_t draws = count.value_or(n.value());
  if (n.value() == 0 && draws > 0)
    return InvalidArgument("{}: {} elements are to be drawn, but the input has none", who, draws);
  return draws;
}

Status DrawnNode::Prepare(const OpenContext& context) const {
  const Pass& pass = *context.pass();
  NoteDraws(DrawsOf(seed_, {pass.seed(), pass.stage(*this).number}));
  // Another pass may be learning, which can take long.
  if (!LockUnlessStopped(learning_))
    return Cancelled("{}: was asked to stop while another pass read the elements", name());
  const MutexLock lock(learning_, std::adopt_lock);
  if (learnt_) return OkStatus();
  STOKER_RETURN_IF_ERROR(Learn(context));
  learnt_ = true;
  return OkStatus();
}

Result<Element> DrawnNode::DoRead(int64_t position, const ReadContext& context) const {
  int64_t source = position;
  FindSources({&source, 1}, KeyOf(context), context.permutations(*this));
  STOKER_ASSIGN_OR_RETURN(Element element, input().node().Read(source, context));
  element.key = {context.epoch(), position};
  return element;
}

Result<Element> DrawnNode::DoReadKey(const SampleKey& key, const ReadContext& context) const {
  STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
  return DoRead(key.index, context.WithEpoch(key.epoch));
}

Result<Rows> DrawnNode::DoReadRows(std::span<const int64_t> positions,
                                   const ReadContext& context) const {
  std::vector<int64_t> sources(positions.begin(), positions.end());
  FindSources(sources, KeyOf(context), context.permutations(*this));
  STOKER_ASSIGN_OR_RETURN(Rows rows, input().node().ReadRows(sources, context));
  for (size_t i = 0; i < positions.size(); ++i) rows.keys[i] = {context.epoch(), positions[i]};
  return rows;
}

DrawnNode::Key DrawnNode::KeyOf(const ReadContext& context) const {
  const RngFactory rngs = DrawsOf(seed_, context.rngs(*this));
  return {.seed = rngs.seed, .epoch = context.epoch(), .stage = rngs.stage};
}

void DrawnNode::NoteDraws(const RngFactory& rngs) const {
  const MutexLock lock(noting_);
  if (!draws_) draws_ = Key{.seed = rngs.seed, .epoch = 0, .stage = rngs.stage};
  draws_differ_ = draws_differ_ || draws_->seed != rngs.seed || draws_->stage != rngs.stage;
}

std::string DrawnNode::NameOfKey(const SampleKey& key, std::string_view field) const {
  // There the number of an element is its position.
  const Dataset* source = &input();
  while (source->node().element_wise() != nullptr) source = &source->node().input();
  if (!source->node().inputs().empty()) return "";
  std::optional<Key> draws;
  {
    const MutexLock lock(noting_);
    if (!draws_differ_) draws = draws_;
  }
  if (!draws || key.index < 0 || key.index >= cardinality().value()) return "";
  draws->epoch = key.epoch;
  int64_t position = key.index;
  FindSources({&position, 1}, *draws, SharedPermutations(nullptr));
  const std::shared_ptr<const SampleNames> names = FindSampleNames(*source);
  return names ? names->NameOf(position, field) : "";
}

}  // namespace stoker
