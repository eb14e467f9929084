#include "stoker/data/ops/shuffle_buffer_internal.h"

#include <algorithm>
#include <utility>

#include "stoker/base/default_budget.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_unsigned.h"
#include "stoker/data/nodes/held_input.h"
#include "stoker/data/ops/buffer_draws_internal.h"
#include "stoker/data/ops/own_seed_internal.h"
#include "stoker/data/ops/shuffle.h"

namespace stoker {
namespace {

class ShuffleBufferNode final : public DatasetNode {
 public:
  ShuffleBufferNode(Dataset input, const ShuffleBufferOptions& options)
      : DatasetNode(std::string(Shuffle::kName), input.spec(), input.cardinality(), {input}),
        options_(options) {}

  std::string Details() const override {
    std::string text = fmt::format("buffer {}", options_.size);
    if (options_.seed) text += fmt::format(", seed {}", *options_.seed);
    if (!options_.reshuffle) text += ", the same order each epoch";
    return text;
  }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return "reorders elements"; }
  bool random() const override { return !options_.seed || options_.reshuffle; }
  // Once the buffer is full, each element is held in the place of another.
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return AddSizes(input().node().MemoryToRead(count), HeldInput::BytesToHold(spec(), count));
  }
  bool rereadable() const override { return input().node().rereadable(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const ShuffleBufferOptions& options() const { return options_; }
  // The error of a buffer that is too large, because it `takes` more than the budget, which holds
  // about `fit` elements.
  Status TooLarge(std::string_view takes, int64_t fit, int64_t budget) const {
    return ResourceExhausted(
        "shuffle: a buffer of {} elements{} {}, but the memory budget is {} bytes; {}{}",
        options_.size, options_.automatic ? " (the automatic size)" : "", takes, budget,
        fit > 0 ? fmt::format("set buffer to {} or less, or ", fit) : "", HowToRaiseTheBudget());
  }
  BufferDraws Draws(const Pass& pass, uint64_t epoch) const {
    const RngFactory rngs =
        DrawsOf(options_.seed, ReadContext(pass, epoch, /*vectorized=*/false).rngs(*this));
    return {options_.size, rngs.seed, options_.reshuffle ? epoch : 0, rngs.stage};
  }

 protected:
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }

 private:
  const ShuffleBufferOptions options_;
};

class ShuffleBufferIterator final : public Iterator {
 public:
  ShuffleBufferIterator(const OpenContext& context, const ShuffleBufferNode& node,
                        std::unique_ptr<Iterator> input)
      : Iterator(context, node),
        node_(node),
        budget_(pass().ledger().budget_bytes()),
        input_(
            context, node, std::move(input), [this] { return Held(); },
            HeldInputOptions{.numbers_known = true}),
        epoch_(context.epoch()),
        draws_(node.Draws(pass(), epoch_)) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    STOKER_RETURN_IF_ERROR(slots_.empty() ? Begin() : FillEmptySlot());
    if (slots_.empty()) return std::nullopt;
    empty_slot_ = draws_.Slot(progress_.draws++, std::ssize(slots_));
    return input_.Release(std::move(slots_[*empty_slot_]));
  }

  // The first elements, or those that were held when the pass was saved. They are no part of the
  // element that is asked for, so the budget is not to admit each as if they were.
  Status Begin() {
    const int64_t asked_before = Scratch::BytesAskedByThisThread();
    if (input_.must_recover()) STOKER_RETURN_IF_ERROR(RecoverHeld());
    STOKER_RETURN_IF_ERROR(slots_.empty() ? Fill() : FillEmptySlot());
    Scratch::ForgetBytesAskedSince(asked_before);
    return OkStatus();
  }

  Status Fill() {
    while (!progress_.ended && std::ssize(slots_) < node_.options().size) {
      HeldElement next;
      STOKER_RETURN_IF_ERROR(PullInto(next));
      if (!progress_.ended) slots_.push_back(std::move(next));
    }
    return OkStatus();
  }

  Status FillEmptySlot() {
    HeldElement& empty = slots_[*empty_slot_];
    if (!progress_.ended) STOKER_RETURN_IF_ERROR(PullInto(empty));
    if (progress_.ended) {
      if (&empty != &slots_.back()) empty = std::move(slots_.back());
      slots_.pop_back();
    }
    empty_slot_.reset();
    return OkStatus();
  }

  Status PullInto(HeldElement& next) {
    STOKER_ASSIGN_OR_RETURN(const bool more, input_.Next(next));
    progress_.ended = !more;
    progress_.pulled = input_.pulled();
    // One element is always let through, be it larger than the budget.
    const int64_t bytes = input_.held_bytes();
    if (!more || bytes <= budget_) return OkStatus();
    if (bytes - HeldInput::BytesOf(next.element) <= budget_) return OkStatus();
    const int64_t held = std::ssize(Held()) + 1;
    return node_.TooLarge(fmt::format("holds {} bytes with {} of them", bytes, held),
                          budget_ / std::max<int64_t>(1, bytes / held), budget_);
  }

  std::vector<const HeldElement*> Held() const {
    std::vector<const HeldElement*> held;
    held.reserve(slots_.size());
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slot != empty_slot_) held.push_back(&slots_[slot]);
    }
    return held;
  }

  Result<Json> DoSave() const override;
  Status DoRestore(const Json& state) override;
  Status RecoverHeld();

  const ShuffleBufferNode& node_;
  const int64_t budget_;  // of memory
  HeldInput input_;
  uint64_t epoch_;
  BufferDraws draws_;

  BufferDraws::Progress progress_;
  std::vector<HeldElement> slots_;
  std::optional<size_t> empty_slot_;  // of the last draw
};

Result<Json> ShuffleBufferIterator::DoSave() const {
  return input_.Save({{"epoch", epoch_},
                      {"buffer", node_.options().size},
                      {"draws", progress_.draws},
                      {"ended", progress_.ended}});
}

Status ShuffleBufferIterator::DoRestore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
  STOKER_ASSIGN_OR_RETURN(const int64_t size, SavedInteger(state, "buffer"));
  STOKER_ASSIGN_OR_RETURN(progress_.draws, SavedInteger(state, "draws"));
  if (size != node_.options().size) {
    return FailedPrecondition(
        "shuffle: the position was saved with a buffer of {} elements, this one has {}; the order "
        "would differ: use the same buffer",
        size, node_.options().size);
  }
  const auto ended = state.find("ended");
  if (ended == state.end() || !ended->is_boolean())
    return DataLoss("the saved position of a shuffle does not say whether its input had ended");
  progress_.ended = ended->get<bool>();
  STOKER_RETURN_IF_ERROR(input_.Restore(state));
  progress_.pulled = input_.pulled();
  if (!draws_.IsPossible(progress_)) {
    return DataLoss(
        "the saved position of a shuffle has {} draws from {} elements, which cannot be with a "
        "buffer of {}; it is damaged",
        progress_.draws, progress_.pulled, size);
  }
  draws_ = node_.Draws(pass(), epoch_);
  return OkStatus();
}

// The draws say which elements the buffer held, and in which slots.
Status ShuffleBufferIterator::RecoverHeld() {
  BufferDraws::Contents contents = draws_.ContentsAfter(progress_);
  std::vector<int64_t>& numbers = contents.elements;
  if (contents.empty_slot)
    numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(*contents.empty_slot));
  STOKER_ASSIGN_OR_RETURN(slots_, input_.Recover(std::move(numbers)));
  if (contents.empty_slot) {
    slots_.emplace(slots_.begin() + static_cast<std::ptrdiff_t>(*contents.empty_slot));
  }
  empty_slot_ = contents.empty_slot;
  return OkStatus();
}

Result<std::unique_ptr<Iterator>> ShuffleBufferNode::OpenStream(const OpenContext& context) const {
  const Spec& of = input().spec();
  const std::optional<int64_t> bytes = AddSizes(
      of.BytesApart(options_.size), MultiplySizes(options_.size, HeldInput::BytesAround(of)));
  const int64_t budget = context.pass()->ledger().budget_bytes();
  if (bytes && *bytes > budget) {
    return TooLarge(fmt::format("takes {} bytes", *bytes), budget / (*bytes / options_.size),
                    budget);
  }
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInput(this->input()));
  return std::make_unique<ShuffleBufferIterator>(context, *this, std::move(input));
}

}  // namespace

Dataset ShuffleBufferDataset(Dataset input, const ShuffleBufferOptions& options) {
  return Dataset(std::make_shared<ShuffleBufferNode>(std::move(input), options));
}

}  // namespace stoker
