#include "stoker/data/ops/shuffle_buffer_internal.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "stoker/data/iterator.h"
#include "stoker/data/ops/buffer_draws_internal.h"
#include "stoker/data/ops/own_seed_internal.h"
#include "stoker/data/ops/packed_keys_internal.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/runtime.h"
#include "stoker/data/runtime/hop.h"
#include "stoker/data/runtime/read_keys.h"
#include "stoker/data/saved_unsigned.h"

namespace stoker {
namespace {

// Of a buffer whose input cannot be read again by key: that many states of the input are kept for
// each time that the buffer is filled anew.
constexpr int64_t kSnapshotsInABuffer = 4;

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
  std::string_view Disturbs() const override { return "reorders elements"; }
  bool random() const override { return !options_.seed || options_.reshuffle; }
  // Once the buffer is full, each element costs what one of the input does.
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return input().node().MemoryToRead(count);
  }
  bool rereadable() const override { return input().node().rereadable(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const ShuffleBufferOptions& options() const { return options_; }
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
        context_(context),
        node_(node),
        rereadable_(node.input().node().rereadable()),
        input_(std::move(input)),
        epoch_(context.epoch()),
        draws_(node.Draws(pass(), epoch_)) {}
  ~ShuffleBufferIterator() override { account().Release(charged_); }

 private:
  struct Slot {
    Element element;
    int64_t number = 0;  // in the input
  };
  struct Snapshot {
    int64_t pulled;  // elements of the input before it
    Json input;
  };

  Result<std::optional<Element>> DoNext() override {
    STOKER_RETURN_IF_ERROR(slots_.empty() ? Begin() : FillEmptySlot());
    if (slots_.empty()) return std::nullopt;
    const size_t slot = draws_.Slot(progress_.draws++, std::ssize(slots_));
    empty_slot_ = slot;
    Element element = std::exchange(slots_[slot].element, {});
    Charge(-UnchargedBytes(element.arrays));
    return element;
  }

  // The first elements, or those that were held when the pass was saved. They are no part of the
  // element that is asked for, so the budget is not to admit each as if they were.
  Status Begin() {
    const int64_t asked_before = Scratch::BytesAskedByThisThread();
    STOKER_RETURN_IF_ERROR(restored_.is_null() ? Fill() : Refill());
    Scratch::ForgetBytesAskedSince(asked_before);
    return OkStatus();
  }

  Status Fill() {
    while (!progress_.ended && std::ssize(slots_) < node_.options().size) {
      slots_.emplace_back();
      STOKER_ASSIGN_OR_RETURN(const bool filled, PullInto(slots_.back()));
      if (!filled) slots_.pop_back();
    }
    return OkStatus();
  }

  Status FillEmptySlot() {
    Slot& empty = slots_[*empty_slot_];
    bool filled = false;
    if (!progress_.ended) {
      STOKER_ASSIGN_OR_RETURN(filled, PullInto(empty));
    }
    if (!filled) {
      if (&empty != &slots_.back()) empty = std::move(slots_.back());
      slots_.pop_back();
    }
    empty_slot_.reset();
    return OkStatus();
  }

  // Whether the input had one element more.
  Result<bool> PullInto(Slot& slot) {
    STOKER_RETURN_IF_ERROR(SaveInputIfDue());
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    progress_.ended = !element;
    if (element) Put(*std::move(element), progress_.pulled++, slot);
    return !progress_.ended;
  }

  void Put(Element element, int64_t number, Slot& slot) {
    Charge(UnchargedBytes(element.arrays) - UnchargedBytes(slot.element.arrays));
    slot = {.element = std::move(element), .number = number};
  }

  void Charge(int64_t bytes) {
    if (bytes == 0) return;
    charged_ += bytes;
    bytes > 0 ? account().Charge(bytes) : account().Release(-bytes);
  }

  // What cannot be read again by key is read again from a state of the input.
  Status SaveInputIfDue() {
    if (rereadable_) return OkStatus();
    const int64_t interval =
        std::max(kSnapshotInterval, node_.options().size / kSnapshotsInABuffer);
    if (!snapshots_.empty() && progress_.pulled - snapshots_.back().pulled < interval)
      return OkStatus();
    STOKER_ASSIGN_OR_RETURN(Json input, input_->Save());
    snapshots_.push_back({progress_.pulled, std::move(input)});
    const int64_t oldest = OldestHeld();
    while (snapshots_.size() > 1 && snapshots_[1].pulled <= oldest) snapshots_.pop_front();
    return OkStatus();
  }

  // The number of the oldest element held, or of the next one where there are none.
  int64_t OldestHeld() const {
    int64_t oldest = progress_.pulled;
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slot != empty_slot_) oldest = std::min(oldest, slots_[slot].number);
    }
    return oldest;
  }

  Result<Json> DoSave() const override;
  Status DoRestore(const Json& state) override;
  Result<std::vector<SampleKey>> HeldKeys() const;
  Status Refill();
  Status ReadHeldByKey();
  Status ReadHeldInOrder();
  MemoryAccount& account() const { return *pass().stage(node_).account; }

  const OpenContext context_;
  const ShuffleBufferNode& node_;
  const bool rereadable_;
  const std::unique_ptr<Iterator> input_;
  uint64_t epoch_;
  BufferDraws draws_;

  BufferDraws::Progress progress_;
  std::vector<Slot> slots_;
  std::optional<size_t> empty_slot_;  // of the last draw
  int64_t charged_ = 0;               // to the stage, for elements held that came uncharged
  std::deque<Snapshot> snapshots_;    // oldest first; the first is not newer than any element held
  Json restored_;                     // the state to begin from, until it has been gone back to
};

Result<Json> ShuffleBufferIterator::DoSave() const {
  if (!restored_.is_null()) return restored_;
  Json state{{"epoch", epoch_},
             {"buffer", node_.options().size},
             {"draws", progress_.draws},
             {"pulled", progress_.pulled},
             {"ended", progress_.ended}};
  if (rereadable_) {
    std::vector<SampleKey> keys;
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slot != empty_slot_) keys.push_back(slots_[slot].element.key);
    }
    state["keys"] = PackKeys(keys);
  }
  if (rereadable_ || snapshots_.empty()) {
    STOKER_ASSIGN_OR_RETURN(state["input"], input_->Save());
    return state;
  }
  const int64_t oldest = OldestHeld();
  const auto newer = std::ranges::find_if(
      snapshots_, [&](const Snapshot& snapshot) { return snapshot.pulled > oldest; });
  const Snapshot& snapshot = *std::prev(newer);
  state["input"] = snapshot.input;
  state["input_pulled"] = snapshot.pulled;
  return state;
}

Status ShuffleBufferIterator::DoRestore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
  STOKER_ASSIGN_OR_RETURN(const int64_t size, SavedInteger(state, "buffer"));
  STOKER_ASSIGN_OR_RETURN(progress_.draws, SavedInteger(state, "draws"));
  STOKER_ASSIGN_OR_RETURN(progress_.pulled, SavedInteger(state, "pulled"));
  STOKER_ASSIGN_OR_RETURN(const Json input, SavedObject(state, "input"));
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
  if (!draws_.IsPossible(progress_)) {
    return DataLoss(
        "the saved position of a shuffle has {} draws from {} elements, which cannot be with a "
        "buffer of {}; it is damaged",
        progress_.draws, progress_.pulled, size);
  }
  draws_ = node_.Draws(pass(), epoch_);
  restored_ = state;
  return input_->Restore(input);
}

Status ShuffleBufferIterator::Refill() {
  const BufferDraws::Contents contents = draws_.ContentsAfter(progress_);
  slots_.resize(contents.elements.size());
  for (size_t slot = 0; slot < slots_.size(); ++slot) slots_[slot].number = contents.elements[slot];
  empty_slot_ = contents.empty_slot;
  const Status read = restored_.contains("keys") ? ReadHeldByKey() : ReadHeldInOrder();
  STOKER_RETURN_IF_ERROR(read.While("reading again what the buffer of shuffle held"));
  restored_ = nullptr;
  return slots_.empty() ? Fill() : FillEmptySlot();
}

Status ShuffleBufferIterator::ReadHeldByKey() {
  const Json& packed = restored_["keys"];
  if (!packed.is_string() || !rereadable_)
    return DataLoss("the keys saved are no text, or of another pipeline");
  const int64_t held = std::ssize(slots_) - (empty_slot_ ? 1 : 0);
  STOKER_ASSIGN_OR_RETURN(std::vector<SampleKey> keys,
                          UnpackKeys(packed.get_ref<const std::string&>(), held));
  STOKER_ASSIGN_OR_RETURN(std::vector<Element> elements,
                          ReadInputKeys(context_, node_, std::move(keys)));
  for (size_t slot = 0, next = 0; slot < slots_.size(); ++slot) {
    if (slot != empty_slot_) Put(std::move(elements[next++]), slots_[slot].number, slots_[slot]);
  }
  return OkStatus();
}

Status ShuffleBufferIterator::ReadHeldInOrder() {
  std::vector<std::pair<int64_t, size_t>> wanted;  // numbers in the input, and their slots
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    if (slot != empty_slot_) wanted.emplace_back(slots_[slot].number, slot);
  }
  std::ranges::sort(wanted);
  const int64_t until = progress_.pulled;
  const bool ended = progress_.ended;
  progress_.pulled = 0;
  if (restored_.contains("input_pulled")) {
    STOKER_ASSIGN_OR_RETURN(progress_.pulled, SavedInteger(restored_, "input_pulled"));
  }
  if (progress_.pulled > (wanted.empty() ? until : wanted.front().first))
    return DataLoss("the state saved of the input is newer than elements that were held");
  snapshots_.push_back({progress_.pulled, restored_["input"]});
  Slot passed_by;
  for (auto next = wanted.begin(); progress_.pulled < until;) {
    const bool held = next != wanted.end() && next->first == progress_.pulled;
    STOKER_ASSIGN_OR_RETURN(const bool found, PullInto(held ? slots_[next->second] : passed_by));
    if (!found) {
      return OutOfRange(
          "the input has ended after {} elements, but {} had been read of it when the position was "
          "saved; have the data changed?",
          progress_.pulled, until);
    }
    if (held) ++next;
  }
  Charge(-UnchargedBytes(passed_by.element.arrays));
  progress_.ended = ended;
  return OkStatus();
}

Result<std::unique_ptr<Iterator>> ShuffleBufferNode::OpenStream(const OpenContext& context) const {
  const std::optional<int64_t> bytes = input().spec().BytesApart(options_.size);
  const int64_t budget = context.pass()->ledger().budget_bytes();
  if (bytes && *bytes > budget) {
    return ResourceExhausted(
        "shuffle: a buffer of {} elements takes {} bytes, but the memory budget is {}; lower "
        "buffer, or raise the budget",
        options_.size, *bytes, budget);
  }
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInput(this->input()));
  return std::make_unique<ShuffleBufferIterator>(context, *this, std::move(input));
}

}  // namespace

Dataset ShuffleBufferDataset(Dataset input, const ShuffleBufferOptions& options) {
  return Dataset(std::make_shared<ShuffleBufferNode>(std::move(input), options));
}

}  // namespace stoker
