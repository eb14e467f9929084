#include "stoker/data/runtime/chunk_source.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "stoker/data/core/failure.h"
#include "stoker/data/runtime/indexed_iterator.h"
#include "stoker/data/runtime/tuner.h"

namespace stoker {
namespace {

constexpr int64_t kMaxChunk = 4096;

}  // namespace

int64_t MaxChunkSize(const Spec& spec) {
  const std::optional<int64_t> bytes = spec.ElementBytes();
  if (!bytes) return kMaxChunk;  // the tuner goes by what they turn out to have
  return std::clamp<int64_t>(MaxChunkBytes(*bytes) / std::max<int64_t>(*bytes, 1), 1, kMaxChunk);
}

void PositionSource::Take(int64_t wanted, int64_t, Chunk& chunk) {
  const int64_t end = node_.cardinality().value();
  chunk.begin = next_;
  chunk.count = std::min({wanted, end - next_, before_.FirstDelivered(next_) - next_});
  next_ = before_.FirstMissing(next_ + chunk.count);
  chunk.last = next_ >= end;
}

void PositionSource::Finish(Chunk& chunk) const {
  if (chunk.count == 0) return;
  chunk.error = ReadAll(chunk);
}

Status PositionSource::ReadAll(Chunk& chunk) const {
  const ReadContext context(*pass_, epoch_, /*vectorized=*/true, stop_.get());
  const std::optional<int64_t> bytes = node_.spec().ElementBytes();
  if (chunk.count > 1 && bytes && *bytes < kLargeElementBytes) {
    std::vector<int64_t> positions(static_cast<size_t>(chunk.count));
    std::iota(positions.begin(), positions.end(), chunk.begin);
    Result<Rows> rows =
        CatchExceptions([&] { return node_.ReadRows(positions, context.AsTrial()); },
                        "reading element {}", chunk.begin);
    if (rows.ok()) {
      chunk.rows = *std::move(rows);
      return OkStatus();
    }
    // One of them failed: read them singly, so that it is known which, and those before it are
    // delivered.
  }
  return ReadOneByOne(chunk, context);
}

Status PositionSource::ReadOneByOne(Chunk& chunk, const ReadContext& context) const {
  for (int64_t i = 0; i < chunk.count; ++i) {
    std::vector<LostElement> lost;
    const ReadContext counting = context.WithLost(&lost);
    const int64_t position = chunk.begin + i;
    STOKER_ASSIGN_OR_RETURN(Element element, tolerant_ ? ReadTolerantly(node_, position, counting)
                                                       : node_.Read(position, counting));
    for (LostElement& one : lost) chunk.lost.emplace_back(i, std::move(one));
    chunk.elements.push_back(std::move(element));
  }
  return OkStatus();
}

Status PositionSource::Deliver(const Chunk& chunk, int64_t number) {
  std::vector<LostElement> lost;
  for (const auto& [at, element] : chunk.lost) {
    if (at == number) lost.push_back(element);
  }
  return lost.empty() ? OkStatus() : tally_.Add(lost);
}

Result<Json> PositionSource::SaveAfter(const Delivered& delivered) {
  Json state = SavePosition(epoch_, delivered);
  tally_.SaveTo(state);
  return state;
}

Result<Delivered> PositionSource::Restore(const Json& state) {
  STOKER_RETURN_IF_ERROR(tally_.RestoreFrom(state));
  STOKER_ASSIGN_OR_RETURN(before_, RestorePosition(state, node_.cardinality(), epoch_));
  next_ = before_.frontier();
  return before_;
}

Result<std::unique_ptr<StreamSource>> StreamSource::Open(const OpenContext& context,
                                                         const DatasetNode& node) {
  std::unique_ptr<StreamSource> source(new StreamSource(context, node));
  source->stages_ = StagesOfHop(node);
  source->parts_ = PartsOfHop(source->stages_);
  source->maps_ = std::ranges::any_of(
      source->stages_, [](const DatasetNode* stage) { return stage->element_wise() != nullptr; });
  source->by_rows_ = source->maps_ && HopWorksOnRows(source->stages_);
  source->any_order_ = HopInAnyOrder(context, source->stages_);
  STOKER_ASSIGN_OR_RETURN(
      HopInput input, OpenHopInput(context, source->stages_.front()->input(), source->any_order_));
  source->input_ = std::move(input.iterator);
  source->pace_ = input.pace;
  return source;
}

void StreamSource::Take(int64_t wanted, int64_t frontier, Chunk& chunk) {
  {
    const MutexLock lock(mutex_);
    DropPassed(frontier);
  }
  while (std::ssize(chunk.elements) < wanted) {
    // Set before the pull: the message about an exception names this position.
    if (chunk.elements.empty()) chunk.begin = taken_;
    const bool skip = before_.FirstMissing(taken_) != taken_;
    if (skip && !chunk.elements.empty()) break;  // a chunk has no gaps
    LossScope losses;
    Result<std::optional<Element>> element = Pull();
    for (LossLine& line : losses.Take()) {  // of what the consumer has: logged before
      if (!skip) chunk.log.emplace_back(std::ssize(chunk.elements), std::move(line));
    }
    if (!element.ok()) {
      chunk.error = element.status();
      break;
    }
    if (!*element) {
      chunk.last = true;
      break;
    }
    if (skip) continue;
    chunk.elements.push_back(**std::move(element));
  }
  // If nothing may be read again, the state after the last element is needed too.
  if (pace_.before_each() && chunk.error.ok()) chunk.error = SaveInputIfDue();
  chunk.count = std::ssize(chunk.elements);
}

Result<std::optional<Element>> StreamSource::Pull() {
  STOKER_RETURN_IF_ERROR(SaveInputIfDue());
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
  if (element) ++taken_;
  return element;
}

Status StreamSource::SaveInputIfDue() {
  if (saved_at_ && !pace_.IsDue(taken_ - *saved_at_)) return OkStatus();
  const MutexLock lock(mutex_);
  STOKER_ASSIGN_OR_RETURN(Json input, pace_.Save(*input_));
  saved_at_ = taken_;
  snapshots_.push_back({taken_, std::move(input)});
  return OkStatus();
}

void StreamSource::Finish(Chunk& chunk) const {
  if (FinishAsRows(chunk)) return;
  // Taken out and put back one by one: a map may throw.
  std::vector<Element> elements = std::exchange(chunk.elements, {});
  chunk.elements.reserve(elements.size());
  const ReadContext context(*pass_, 0, /*vectorized=*/true, stop_.get());
  for (Element& element : elements) {
    const Status status = context.stopped() ? AskedToStop(node_.name())
                                            : ApplyHopParts(parts_, context, tolerant_, element);
    if (!status.ok()) {
      chunk.error = status;
      return;
    }
    chunk.elements.push_back(std::move(element));
  }
}

bool StreamSource::FinishAsRows(Chunk& chunk) const {
  if (!by_rows_ || chunk.elements.size() < 2) return false;
  const auto failed = [](const Element& element) { return element.failure != nullptr; };
  if (std::ranges::any_of(chunk.elements, failed)) return false;
  const ReadContext context(*pass_, 0, /*vectorized=*/true, stop_.get());
  try {
    Result<Rows> rows = StackForHop(stages_, context, chunk.elements);
    if (!rows.ok() || !ApplyHopToRows(stages_, context, *rows).ok()) return false;
    chunk.rows = *std::move(rows);
    chunk.elements.clear();
    return true;
  } catch (...) {
    return false;  // one by one, what comes before the one at fault is delivered
  }
}

Result<Json> StreamSource::SaveAfter(const Delivered& delivered) {
  const MutexLock lock(mutex_);
  DropPassed(delivered.frontier());
  Json state;
  int64_t origin = 0;
  if (snapshots_.empty()) {
    // Nothing has been pulled yet, and nothing will be while the lock is held.
    STOKER_ASSIGN_OR_RETURN(state["input"], input_->Save());
  } else {
    state["input"] = snapshots_.front().input;
    origin = snapshots_.front().taken;
  }
  state["read_again"] = delivered.frontier() - origin;
  delivered.SaveBeyond(origin, state);
  return state;
}

void StreamSource::DropPassed(int64_t frontier) {
  while (snapshots_.size() > 1 && snapshots_[1].taken <= frontier) snapshots_.pop_front();
}

Result<Delivered> StreamSource::Restore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(const Json input, SavedObject(state, "input"));
  STOKER_ASSIGN_OR_RETURN(const int64_t read_again, SavedInteger(state, "read_again"));
  STOKER_ASSIGN_OR_RETURN(before_, Delivered::Restore(read_again, state));
  STOKER_RETURN_IF_ERROR(input_->Restore(input));
  return before_;
}

}  // namespace stoker
