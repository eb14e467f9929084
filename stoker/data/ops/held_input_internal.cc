#include "stoker/data/ops/held_input_internal.h"

#include <algorithm>
#include <utility>

#include "stoker/data/ops/packed_keys_internal.h"
#include "stoker/data/runtime/hop.h"
#include "stoker/data/runtime/read_keys.h"

namespace stoker {
namespace {

// Numbers are packed as keys are: they are integers that lie close together.
Json PackNumbers(const std::vector<int64_t>& numbers) {
  std::vector<SampleKey> keys;
  for (const int64_t number : numbers) keys.push_back({.epoch = 0, .index = number});
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

MemoryCharge::MemoryCharge(std::shared_ptr<MemoryAccount> account, int64_t bytes)
    : account_(std::move(account)), bytes_(bytes) {
  account_->Charge(bytes_);
}

MemoryCharge::MemoryCharge(MemoryCharge&& other) noexcept
    : account_(std::move(other.account_)), bytes_(std::exchange(other.bytes_, 0)) {}

MemoryCharge& MemoryCharge::operator=(MemoryCharge&& other) noexcept {
  std::swap(account_, other.account_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MemoryCharge::~MemoryCharge() {
  if (bytes_ > 0) account_->Release(bytes_);
}

HeldInput::HeldInput(const OpenContext& context, const DatasetNode& node,
                     std::unique_ptr<Iterator> input)
    : context_(context),
      node_(node),
      by_key_(node.input().node().rereadable()),
      input_(std::move(input)) {}

Result<std::optional<HeldElement>> HeldInput::Next() {
  STOKER_RETURN_IF_ERROR(SaveInputIfDue());
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
  if (!element) return std::nullopt;
  return Hold(*std::move(element), pulled_++);
}

HeldElement HeldInput::Hold(Element element, int64_t number) const {
  const int64_t bytes = UnchargedBytes(element.arrays);
  HeldElement held{.element = std::move(element), .number = number, .charge = {}};
  if (bytes > 0) held.charge = {context_.pass()->stage(node_).account, bytes};
  return held;
}

// What is read here is no part of the element that is asked for, so the budget is not to admit each
// as if it were.
Result<std::vector<HeldElement>> HeldInput::Recover() {
  const int64_t asked_before = Scratch::BytesAskedByThisThread();
  Result<std::vector<HeldElement>> held = by_key_ ? RecoverByKey() : RecoverInOrder();
  Scratch::ForgetBytesAskedSince(asked_before);
  if (held.ok()) return held;
  return held.status().While(
      fmt::format("reading again what '{}' held when the position was saved", node_.name()));
}

Result<std::vector<HeldElement>> HeldInput::RecoverByKey() {
  std::vector<HeldElement> held;
  if (wanted_.empty()) return held;
  STOKER_ASSIGN_OR_RETURN(std::vector<Element> elements,
                          ReadInputKeys(context_, node_, std::move(wanted_keys_)));
  for (size_t i = 0; i < elements.size(); ++i)
    held.push_back(Hold(std::move(elements[i]), wanted_[i]));
  return held;
}

Result<std::vector<HeldElement>> HeldInput::RecoverInOrder() {
  std::vector<HeldElement> held;
  while (pulled_ < stood_at_) {
    STOKER_ASSIGN_OR_RETURN(std::optional<HeldElement> next, Next());
    if (!next) {
      return OutOfRange(
          "the input has ended after {} elements, but {} had been read of it; have the data "
          "changed?",
          pulled_, stood_at_);
    }
    if (held.size() < wanted_.size() && next->number == wanted_[held.size()])
      held.push_back(*std::move(next));
  }
  return held;
}

Status HeldInput::SaveInputIfDue() {
  if (by_key_) return OkStatus();
  if (!snapshots_.empty() && pulled_ - snapshots_.back().pulled < kSnapshotInterval)
    return OkStatus();
  STOKER_ASSIGN_OR_RETURN(Json input, input_->Save());
  snapshots_.push_back({pulled_, std::move(input)});
  return OkStatus();
}

size_t HeldInput::SnapshotBefore(int64_t number) const {
  const auto newer = std::ranges::upper_bound(snapshots_, number, {}, &Snapshot::pulled);
  return static_cast<size_t>(newer - snapshots_.begin()) - 1;
}

void HeldInput::KeepOnly(std::span<const HeldElement* const> held) {
  if (snapshots_.size() < 2) return;
  std::vector<bool> needed(snapshots_.size());
  needed.back() = true;  // for what comes next
  for (const HeldElement* one : held) needed[SnapshotBefore(one->number)] = true;
  size_t kept = 0;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) std::swap(snapshots_[kept++], snapshots_[i]);
  }
  snapshots_.resize(kept);
}

Result<Json> HeldInput::Save(std::span<const HeldElement* const> held) const {
  std::vector<const HeldElement*> sorted(held.begin(), held.end());
  std::ranges::sort(sorted, {}, &HeldElement::number);
  std::vector<int64_t> numbers;
  std::vector<SampleKey> keys;
  for (const HeldElement* one : sorted) {
    numbers.push_back(one->number);
    keys.push_back(one->element.key);
  }
  Json state{{"pulled", pulled_}, {"held", numbers.size()}, {"numbers", PackNumbers(numbers)}};
  if (by_key_) state["keys"] = PackKeys(keys);
  if (by_key_ || numbers.empty() || snapshots_.empty()) {
    STOKER_ASSIGN_OR_RETURN(state["input"], input_->Save());
    state["input_pulled"] = pulled_;
    return state;
  }
  const Snapshot& snapshot = snapshots_[SnapshotBefore(numbers.front())];
  state["input"] = snapshot.input;
  state["input_pulled"] = snapshot.pulled;
  return state;
}

Status HeldInput::Restore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(stood_at_, SavedInteger(state, "pulled"));
  STOKER_ASSIGN_OR_RETURN(pulled_, SavedInteger(state, "input_pulled"));
  STOKER_ASSIGN_OR_RETURN(const int64_t held, SavedInteger(state, "held"));
  STOKER_ASSIGN_OR_RETURN(const Json input, SavedObject(state, "input"));
  STOKER_ASSIGN_OR_RETURN(const std::vector<SampleKey> numbers, SavedKeys(state, "numbers", held));
  if (by_key_) {
    STOKER_ASSIGN_OR_RETURN(wanted_keys_, SavedKeys(state, "keys", held));
  }
  int64_t least = by_key_ ? 0 : pulled_;
  for (const SampleKey& number : numbers) {
    if (number.index < least || number.index >= stood_at_) {
      return DataLoss(
          "the saved position of '{}' holds element {} of the {} that had been read; it is damaged",
          node_.name(), number.index, stood_at_);
    }
    least = number.index + 1;
    wanted_.push_back(number.index);
  }
  if (pulled_ > stood_at_ || (by_key_ && pulled_ != stood_at_)) {
    return DataLoss(
        "the saved position of '{}' has its input at element {} and itself at {}; it is damaged",
        node_.name(), pulled_, stood_at_);
  }
  return input_->Restore(input);
}

}  // namespace stoker
