#include "stoker/data/iterator.h"

#include "stoker/data/runtime.h"

namespace stoker {

Iterator::Iterator(const OpenContext& context, const DatasetNode& node, Counting counting)
    : pass_(context.pass()), stats_(pass_->stage(node).stats), counting_(counting) {}

Result<std::optional<Element>> Iterator::Next() {
  if (!error_.ok()) return error_;
  if (ended_) return std::nullopt;
  started_ = true;
  Result<std::optional<Element>> element = counting_ == Counting::kHere ? CountedNext() : DoNext();
  if (!element.ok()) {
    error_ = element.status();
  } else if (!*element) {
    ended_ = true;
  }
  return element;
}

Result<std::optional<Element>> Iterator::CountedNext() {
  const ScopedStageTime time(stats_);
  Result<std::optional<Element>> element = DoNext();
  if (!element.ok()) {
    stats_.AddError();
  } else if (*element) {
    stats_.AddElements(1, (*element)->num_bytes());
  }
  return element;
}

Status Iterator::Restore(const Json& state) {
  if (started_)
    return FailedPrecondition(
        "an iterator can be restored only before its first element; open a new one");
  if (!state.is_object())
    return DataLoss("a saved pipeline position is no JSON object; the checkpoint is damaged");
  return DoRestore(state);
}

Profile Iterator::GetProfile() const { return pass_->GetProfile(); }

Result<int64_t> SavedInteger(const Json& state, const char* key) {
  const auto found = state.find(key);
  if (found == state.end() || !found->is_number_integer()) {
    return DataLoss(
        "the saved pipeline position has no integer '{}'; it was saved by another pipeline or is "
        "damaged",
        key);
  }
  // Seeds use all 64 bits and are stored unsigned; everything else counts something.
  if (!found->is_number_unsigned() && found->get<int64_t>() < 0) {
    return DataLoss("the saved pipeline position has '{}' {}, which cannot be; it is damaged", key,
                    found->get<int64_t>());
  }
  return found->get<int64_t>();
}

Result<Json> SavedObject(const Json& state, const char* key) {
  const auto found = state.find(key);
  if (found == state.end() || !found->is_object()) {
    return DataLoss(
        "the saved pipeline position has no part '{}'; it was saved by another pipeline or is "
        "damaged",
        key);
  }
  return *found;
}

}  // namespace stoker
