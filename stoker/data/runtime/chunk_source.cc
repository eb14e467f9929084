#include "stoker/data/runtime/chunk_source.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "stoker/data/map.h"
#include "stoker/data/runtime/indexed_iterator.h"
#include "stoker/data/runtime/pass_through_iterator.h"

namespace stoker {
namespace {

// Enough work to make a hop between threads (about a microsecond) cheap, little enough to stay in a
// core's cache.
constexpr int64_t kChunkBytes = 64 << 10;
constexpr int64_t kMaxChunk = 256;

}  // namespace

int64_t ChunkSize(const Spec& spec) {
  const std::optional<int64_t> bytes = spec.ElementBytes();
  if (!bytes) return 1;
  return std::clamp<int64_t>(kChunkBytes / std::max<int64_t>(*bytes, 1), 1, kMaxChunk);
}

PositionSource::PositionSource(const OpenContext& context, const DatasetNode& node)
    : pass_(context.pass()),
      node_(node),
      chunk_size_(ChunkSize(node.spec())),
      tolerant_(context.tolerant()),
      epoch_(context.epoch()),
      tally_(*pass_) {}

void PositionSource::Take(int64_t, Chunk& chunk) {
  chunk.begin = next_;
  chunk.count = std::min(chunk_size_, node_.cardinality().value() - next_);
  next_ += chunk.count;
  chunk.last = next_ >= node_.cardinality().value();
}

void PositionSource::Finish(Chunk& chunk) const {
  if (chunk.count == 0) return;
  chunk.error = ReadAll(chunk);
}

Status PositionSource::ReadAll(Chunk& chunk) const {
  const ReadContext context(*pass_, epoch_, /*vectorized=*/true);
  if (chunk.count > 1) {
    std::vector<int64_t> positions(static_cast<size_t>(chunk.count));
    std::iota(positions.begin(), positions.end(), chunk.begin);
    const Result<Rows> rows = CatchExceptions(
        "reading", chunk.begin, [&] { return node_.ReadRows(positions, context.AsTrial()); });
    if (rows.ok()) {
      chunk.elements.reserve(positions.size());
      for (int64_t i = 0; i < rows->size(); ++i) chunk.elements.push_back(rows->RowElement(i));
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
    for (LostElement& one : lost) chunk.lost.emplace_back(chunk.elements.size(), std::move(one));
    chunk.elements.push_back(std::move(element));
  }
  return OkStatus();
}

Status PositionSource::Deliver(const Chunk& chunk, size_t number) {
  std::vector<LostElement> lost;
  for (const auto& [at, element] : chunk.lost) {
    if (at == number) lost.push_back(element);
  }
  return lost.empty() ? OkStatus() : tally_.Add(lost);
}

Result<Json> PositionSource::SaveAfter(int64_t delivered) {
  Json state = SavePosition(epoch_, start_ + delivered);
  tally_.SaveTo(state);
  return state;
}

Status PositionSource::Restore(const Json& state) {
  STOKER_RETURN_IF_ERROR(tally_.RestoreFrom(state));
  STOKER_RETURN_IF_ERROR(RestorePosition(state, node_.cardinality(), epoch_, start_));
  next_ = start_;
  return OkStatus();
}

Result<std::unique_ptr<StreamSource>> StreamSource::Open(const OpenContext& context,
                                                         const DatasetNode& node) {
  std::unique_ptr<StreamSource> source(new StreamSource(context, node));
  source->maps_ = ConsecutiveMaps(node);
  const DatasetNode& first = source->maps_.empty() ? node : *source->maps_.front();
  STOKER_ASSIGN_OR_RETURN(source->input_, context.OpenInputAlike(first.input()));
  source->chunk_size_ = ChunkSize(first.input().spec());
  return source;
}

void StreamSource::Take(int64_t delivered, Chunk& chunk) {
  chunk.begin = std::max(taken_, read_again_);
  {
    std::lock_guard lock(mutex_);
    DropPassed(delivered);
  }
  while (std::ssize(chunk.elements) < chunk_size_) {
    Result<std::optional<Element>> element = Pull();
    if (!element.ok()) {
      chunk.error = element.status();
      break;
    }
    if (!*element) {
      chunk.last = true;
      break;
    }
    if (taken_ > read_again_) chunk.elements.push_back(**std::move(element));
  }
  chunk.count = std::ssize(chunk.elements);
}

Result<std::optional<Element>> StreamSource::Pull() {
  STOKER_RETURN_IF_ERROR(SaveInputIfDue());
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
  if (element) ++taken_;
  return element;
}

Status StreamSource::SaveInputIfDue() {
  if (taken_ % kSnapshotInterval != 0) return OkStatus();
  std::lock_guard lock(mutex_);
  if (!snapshots_.empty() && snapshots_.back().taken == taken_) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(Json input, input_->Save());
  snapshots_.push_back({taken_, std::move(input)});
  return OkStatus();
}

void StreamSource::Finish(Chunk& chunk) const {
  // Taken out and put back one by one: a map may throw.
  std::vector<Element> elements = std::exchange(chunk.elements, {});
  chunk.elements.reserve(elements.size());
  for (Element& element : elements) {
    if (const Status status = ApplyMaps(maps_, ReadContext(*pass_, 0, true), tolerant_, element);
        !status.ok()) {
      chunk.error = status;
      return;
    }
    if (maps_.empty() && !element.failure)
      pass_->stage(node_).stats.AddElements(1, element.num_bytes());
    chunk.elements.push_back(std::move(element));
  }
}

Result<Json> StreamSource::SaveAfter(int64_t delivered) {
  std::lock_guard lock(mutex_);
  const int64_t done = read_again_ + delivered;
  DropPassed(delivered);
  if (snapshots_.empty()) {
    // Nothing has been pulled yet, and nothing will be while the lock is held.
    STOKER_ASSIGN_OR_RETURN(Json input, input_->Save());
    return Json{{"input", std::move(input)}, {"read_again", done}};
  }
  return Json{{"input", snapshots_.front().input}, {"read_again", done - snapshots_.front().taken}};
}

void StreamSource::DropPassed(int64_t delivered) {
  const int64_t done = read_again_ + delivered;
  while (snapshots_.size() > 1 && snapshots_[1].taken <= done) snapshots_.pop_front();
}

Status StreamSource::Restore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(const Json input, SavedObject(state, "input"));
  STOKER_ASSIGN_OR_RETURN(read_again_, SavedInteger(state, "read_again"));
  return input_->Restore(input);
}

}  // namespace stoker
