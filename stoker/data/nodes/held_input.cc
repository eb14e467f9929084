#include "stoker/data/nodes/held_input.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <utility>

#include "stoker/data/core/loss_log.h"
#include "stoker/data/nodes/packed_keys.h"
#include "stoker/data/runtime/read_keys.h"

namespace stoker {
namespace {

constexpr char kElements[] = "elements";  // in the state of a stage

// For an input that cannot make elements from their keys, this many states are kept each time as
// many elements pass as are held.
constexpr int64_t kSnapshotsWhileAllPass = 4;

// An element that keeps so many times its own bytes alive, or more, is copied. Copies of a few
// elements that follow each other share a block, which takes a fraction of the time. Whatever the
// order in which they are let go, that keeps less alive than what would be copied; in a shuffle
// buffer twice their bytes.
//
// Copying 800 bytes takes as long as all else that a shuffle buffer does with an element, so it
// waits until the pass has used a part of its budget. What elements keep alive from before is in
// it.
constexpr int64_t kPlentifulPart = 8;
constexpr size_t kTooManyTimes = 8;
constexpr size_t kCopiesInABlock = 4;
constexpr size_t kLeastBlock = 256;

// What the elements take beside their values is charged in such steps: the accounts are shared
// between threads, and buffers hand one element out for each that comes.
constexpr int64_t kStepAround = 16 << 10;

// An element is an entry of a list and holds a list of arrays. Each array holds a list of its
// extents and a buffer with its bookkeeping.
int64_t BytesAroundArrays(size_t arrays, size_t extents) {
  constexpr size_t kHeapBlock = 16;  // what the heap takes for itself
  constexpr size_t kBooks = 64;
  constexpr size_t kArray = sizeof(Array) + kHeapBlock + kBooks;
  return static_cast<int64_t>(sizeof(HeldElement) + kHeapBlock + arrays * kArray +
                              extents * sizeof(int64_t));
}

int64_t BytesAroundElement(const Element& element) {
  size_t extents = 0;
  for (const Array& array : element.arrays) extents += array.shape().size();
  return BytesAroundArrays(element.arrays.size(), extents);
}

constexpr size_t RoundUpForCopies(size_t bytes) {
  constexpr size_t kAlignment = alignof(std::max_align_t);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Whether the block that `array` of `element` lies in is too large for what the element has in it.
// Not asked of memory charged to no stage: user code lends it, or a source keeps it resident, and
// it lives on whether its elements are held or not.
bool IsSmallPart(const Array& array, const Element& element) {
  const Buffer& buffer = array.buffer();
  if (!buffer.charged() || array.num_bytes() == 0) return false;
  size_t bytes = 0;
  for (const Array& other : element.arrays) {
    if (other.buffer().data() == buffer.data()) bytes += other.num_bytes();
  }
  return bytes * kTooManyTimes <= buffer.size();
}

// Numbers are packed as keys are: they are integers that lie close together.
std::string PackNumbers(std::span<const HeldElement* const> held) {
  std::vector<SampleKey> numbers;
  for (const HeldElement* one : held) numbers.push_back({.epoch = 0, .index = one->number});
  return PackKeys(numbers);
}

std::string PackKeysOf(std::span<const HeldElement* const> held) {
  std::vector<SampleKey> keys;
  for (const HeldElement* one : held) keys.push_back(one->element.key);
  return PackKeys(keys);
}

Result<std::vector<SampleKey>> SavedKeys(const Json& state, const char* name, int64_t count) {
  const auto found = state.find(name);
  if (found == state.end() || !found->is_string()) {
    return DataLoss(
        "the saved pipeline position has no '{}' of the elements that were held; it was saved by "
        "another pipeline or is damaged",
        name);
  }
  return UnpackKeys(found->get_ref<const std::string&>(), count);
}

}  // namespace

HeldInput::HeldInput(const OpenContext& context, const DatasetNode& node,
                     std::unique_ptr<Iterator> input, Held held, const HeldInputOptions& options)
    : context_(context),
      node_(node),
      stage_(context.pass()->stage(node)),
      by_key_(node.input().node().rereadable()),
      input_(std::move(input)),
      held_(std::move(held)),
      options_(options) {}

HeldInput::~HeldInput() { stage_.account->Release(charged_ + charged_around_); }

Result<bool> HeldInput::Next(HeldElement& next) {
  if (SnapshotIsDue()) STOKER_RETURN_IF_ERROR(TakeSnapshot());
  return Pull(next);
}

Result<bool> HeldInput::Pull(HeldElement& next) {
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
  if (!element) return false;
  Hold(*std::move(element), pulled_++, next);
  return true;
}

void HeldInput::Hold(Element element, int64_t number, HeldElement& held) {
  if (options_.for_long) CopySmallParts(element);
  held.element = std::move(element);
  held.number = number;
  Count(held.element, +1);
}

Element HeldInput::Release(HeldElement held) {
  Count(held.element, -1);
  return std::move(held.element);
}

void HeldInput::Count(const Element& element, int sign) {
  const int64_t around = BytesAroundElement(element);
  held_count_ += sign;
  held_bytes_ += sign * (element.num_bytes() + around);
  around_ += sign * around;
  ChargeAround();
  const int64_t uncharged = UnchargedBytes(element.arrays);
  if (uncharged == 0) return;
  charged_ += sign * uncharged;
  sign > 0 ? stage_.account->Charge(uncharged) : stage_.account->Release(uncharged);
}

void HeldInput::ChargeAround() {
  const int64_t steps = around_ / kStepAround * kStepAround;
  if (steps > charged_around_) {
    stage_.account->Charge(steps - charged_around_);
  } else if (around_ < charged_around_ - kStepAround) {
    stage_.account->Release(charged_around_ - steps);
  } else {
    return;
  }
  charged_around_ = steps;
}

int64_t HeldInput::BytesOf(const Element& element) {
  return element.num_bytes() + BytesAroundElement(element);
}

int64_t HeldInput::BytesAround(const Spec& spec) {
  size_t extents = 0;
  for (const Field& field : spec.fields) extents += field.shape.size();
  return BytesAroundArrays(spec.fields.size(), extents);
}

void HeldInput::CopySmallParts(Element& element) {
  const Ledger& ledger = context_.pass()->ledger();
  if (ledger.bytes() < ledger.budget_bytes() / kPlentifulPart) return;
  size_t bytes = 0;
  std::vector<Array*> small;
  for (Array& array : element.arrays) {
    if (!IsSmallPart(array, element)) continue;
    small.push_back(&array);
    bytes += RoundUpForCopies(array.num_bytes());
  }
  if (small.empty()) return;
  if (copies_.size() - copies_used_ < bytes) {
    Scratch scratch(stage_.pool);
    const size_t block = std::max(bytes * kCopiesInABlock, kLeastBlock);
    copies_ = scratch.NewArray(DType::kUInt8, {static_cast<int64_t>(block)}).buffer();
    copies_used_ = 0;
  }
  for (Array* array : small) {
    std::memcpy(copies_.data() + copies_used_, array->data(), array->num_bytes());
    Array copy(copies_, array->dtype(), array->shape(), copies_used_);
    copies_used_ += RoundUpForCopies(array->num_bytes());
    *array = std::move(copy);
  }
}

std::optional<int64_t> HeldInput::BytesToHold(const Spec& spec, int64_t count) {
  static_assert(kLeastBlock <= kCopiesInABlock * kBufferAlignment);
  return AddSizes(spec.BytesApart(AddSizes(count, kCopiesInABlock - 1).value_or(count)),
                  MultiplySizes(count, BytesAround(spec)));
}

// What is read here is no part of the element that is asked for, so the budget is not to admit each
// as if it were.
Result<std::vector<HeldElement>> HeldInput::Recover(std::vector<int64_t> numbers) {
  if (options_.numbers_known) restored_->numbers = std::move(numbers);
  const LossScope logged_before;
  const int64_t asked_before = Scratch::BytesAskedByThisThread();
  Result<std::vector<HeldElement>> held = by_key_ ? RecoverByKey() : RecoverInOrder();
  Scratch::ForgetBytesAskedSince(asked_before);
  restored_.reset();
  if (held.ok()) {
    state_to_recover_ = nullptr;
    return held;
  }
  return held.status().While(
      fmt::format("reading again what '{}' held when the position was saved", node_.name()));
}

Result<std::vector<HeldElement>> HeldInput::RecoverByKey() {
  STOKER_RETURN_IF_ERROR(CheckNumbers());
  std::vector<HeldElement> held(restored_->numbers.size());
  if (held.empty()) return held;
  STOKER_ASSIGN_OR_RETURN(std::vector<Element> elements,
                          ReadInputKeys(context_, node_, std::move(restored_->keys)));
  for (size_t i = 0; i < held.size(); ++i)
    Hold(std::move(elements[i]), restored_->numbers[i], held[i]);
  return held;
}

Result<std::vector<HeldElement>> HeldInput::RecoverInOrder() {
  STOKER_RETURN_IF_ERROR(CheckNumbers());
  const std::vector<int64_t>& numbers = restored_->numbers;
  std::vector<size_t> places(numbers.size());  // by rising number
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::sort(places, {}, [&](size_t place) { return numbers[place]; });
  std::vector<HeldElement> held(numbers.size());
  HeldElement passed_by;
  for (auto place = places.begin(); pulled_ < restored_->pulled;) {
    const bool wanted = place != places.end() && numbers[*place] == pulled_;
    if (SnapshotIsDue()) STOKER_RETURN_IF_ERROR(TakeSnapshot());
    STOKER_ASSIGN_OR_RETURN(const bool more, Pull(wanted ? held[*place++] : passed_by));
    if (more && !wanted) Release(std::exchange(passed_by, {}));
    if (more) continue;
    return OutOfRange(
        "the input has ended after {} elements, but {} had been read of it; have the data changed?",
        pulled_, restored_->pulled);
  }
  return held;
}

std::vector<int64_t> HeldInput::NumbersHeld() const {
  std::vector<int64_t> numbers;
  for (const HeldElement* one : held_()) numbers.push_back(one->number);
  return numbers;
}

bool HeldInput::SnapshotIsDue() {
  if (by_key_) return false;
  if (snapshots_.empty()) return true;
  const int64_t elements = pulled_ - snapshots_.back().pulled;
  return elements >= least_interval_ && pace_.IsDue(elements);
}

Status HeldInput::TakeSnapshot() {
  STOKER_ASSIGN_OR_RETURN(Json input, pace_.Save(*input_));
  snapshots_.push_back({pulled_, std::move(input)});
  const int64_t held = restored_ ? restored_->held : held_count_;
  least_interval_ = held / kSnapshotsWhileAllPass;
  if (snapshots_.size() >= prune_at_) PruneSnapshots();
  return OkStatus();
}

// Drops the snapshots that are not the nearest one before any element held. Finding them takes a
// while, so it is done when there may be twice as many as needed.
void HeldInput::PruneSnapshots() {
  constexpr size_t kFewSnapshots = 4;
  std::vector<bool> needed(snapshots_.size());
  needed.back() = true;  // for what comes next
  for (const int64_t number : restored_ ? restored_->numbers : NumbersHeld())
    needed[SnapshotBefore(number)] = true;
  size_t kept = 0;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) std::swap(snapshots_[kept++], snapshots_[i]);
  }
  snapshots_.resize(kept);
  prune_at_ = std::max(2 * kept, kFewSnapshots);
}

size_t HeldInput::SnapshotBefore(int64_t number) const {
  const auto newer = std::ranges::upper_bound(snapshots_, number, {}, &Snapshot::pulled);
  return static_cast<size_t>(newer - snapshots_.begin()) - 1;
}

Result<Json> HeldInput::Save(Json own) const {
  if (must_recover()) return state_to_recover_;
  STOKER_ASSIGN_OR_RETURN(own[kElements], SaveHeld());
  return own;
}

Status HeldInput::Restore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(const Json elements, SavedObject(state, kElements));
  STOKER_RETURN_IF_ERROR(RestoreHeld(elements));
  state_to_recover_ = state;
  return OkStatus();
}

Result<Json> HeldInput::SaveHeld() const {
  std::vector<const HeldElement*> held = held_();
  Json state{{"pulled", pulled_}, {"held", held.size()}};
  if (!options_.numbers_known) {
    std::ranges::sort(held, {}, &HeldElement::number);
    state["numbers"] = PackNumbers(held);
  }
  if (by_key_) state["keys"] = PackKeysOf(held);
  if (by_key_ || held.empty() || snapshots_.empty()) {
    STOKER_ASSIGN_OR_RETURN(state["input"], input_->Save());
    state["input_pulled"] = pulled_;
    return state;
  }
  const HeldElement* oldest = *std::ranges::min_element(held, {}, &HeldElement::number);
  const Snapshot& snapshot = snapshots_[SnapshotBefore(oldest->number)];
  state["input"] = snapshot.input;
  state["input_pulled"] = snapshot.pulled;
  return state;
}

Status HeldInput::RestoreHeld(const Json& elements) {
  Restored restored;
  STOKER_ASSIGN_OR_RETURN(restored.pulled, SavedInteger(elements, "pulled"));
  STOKER_ASSIGN_OR_RETURN(restored.held, SavedInteger(elements, "held"));
  STOKER_ASSIGN_OR_RETURN(pulled_, SavedInteger(elements, "input_pulled"));
  STOKER_ASSIGN_OR_RETURN(const Json input, SavedObject(elements, "input"));
  if (!options_.numbers_known) {
    STOKER_ASSIGN_OR_RETURN(const std::vector<SampleKey> numbers,
                            SavedKeys(elements, "numbers", restored.held));
    for (const SampleKey& number : numbers) restored.numbers.push_back(number.index);
  }
  if (by_key_) {
    STOKER_ASSIGN_OR_RETURN(restored.keys, SavedKeys(elements, "keys", restored.held));
  }
  if (pulled_ > restored.pulled || (by_key_ && pulled_ != restored.pulled)) {
    return DataLoss(
        "the saved position of '{}' has its input at element {} and itself at {}; it is damaged",
        node_.name(), pulled_, restored.pulled);
  }
  restored_ = std::move(restored);
  if (!options_.numbers_known) STOKER_RETURN_IF_ERROR(CheckNumbers());
  return input_->Restore(input);
}

Status HeldInput::CheckNumbers() const {
  if (std::ssize(restored_->numbers) != restored_->held) {
    return DataLoss("the saved position of '{}' holds {} elements instead of {}; it is damaged",
                    node_.name(), restored_->held, restored_->numbers.size());
  }
  const int64_t least = by_key_ ? 0 : pulled_;
  for (const int64_t number : restored_->numbers) {
    if (number >= least && number < restored_->pulled) continue;
    return DataLoss(
        "the saved position of '{}' holds element {} of the {} that had been read; it is damaged",
        node_.name(), number, restored_->pulled);
  }
  return OkStatus();
}

}  // namespace stoker
