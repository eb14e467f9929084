#include "stoker/data/core/iterator.h"

#include <limits>
#include <utility>

#include "stoker/base/stop_scope.h"
#include "stoker/data/core/drawn_order.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_unsigned.h"
#include "stoker/data/core/stage_time.h"

namespace stoker {
namespace {

constexpr char kSkip[] = "skip";
constexpr char kLogs[] = "logs";

// Whether `state`, the outermost position, means the elements that `pass` gives.
Status CheckSamePass(const Json& state, const Pass& pass) {
  STOKER_ASSIGN_OR_RETURN(const uint64_t seed, SavedUnsigned(state, "seed"));
  if (seed != pass.seed()) {
    return FailedPrecondition(
        "the position was saved with seed {}, this pass has seed {}; the order and the random "
        "draws would differ: use the same seed",
        seed, pass.seed());
  }
  if (!pass.draws_order() || HasTheseOrders(state)) return OkStatus();
  return FailedPrecondition(
      "the position was saved by a version of Stoker that shuffles in other orders, so some "
      "elements of this epoch would come twice and others not at all: go on with that version, or "
      "begin anew");
}

}  // namespace

Iterator::Iterator(const OpenContext& context, const DatasetNode& node, Counting counting)
    : pass_(context.pass()),
      stop_(context.stop()),
      stats_(pass_->stage(node).stats),
      spec_(node.spec()),
      counting_(counting),
      tolerant_(context.tolerant()) {}

// What only the iterator that the consumer has does: what was lost on the way to an element is
// logged when it is handed out.
template <typename T, typename Make>
Result<std::optional<T>> Iterator::MakeOutermost(const Make& make) {
  LossScope losses;
  Result<std::optional<T>> made = make();
  if (made.status().code() == StatusCode::kCancelled) return made;
  for (const LossLine& line : losses.Take()) STOKER_RETURN_IF_ERROR(pass_->loss_logs().Write(line));
  return made;
}

// What Next and NextRows have in common: the end and errors are for good.
template <typename T, typename Make>
Result<std::optional<T>> Iterator::Guarded(const Make& make) {
  if (!error_.ok()) return error_;
  if (ended_) return std::nullopt;
  error_ = CheckStop();
  if (!error_.ok()) return error_;
  started_ = true;
  const StopScope scope([this] { return stop_->raised(); });
  Result<std::optional<T>> made = outermost_ ? MakeOutermost<T>(make) : make();
  if (!made.ok()) {
    error_ = made.status();
    broken_off_ = counting_ == Counting::kHere;
  } else if (!*made) {
    ended_ = true;
  }
  return made;
}

Result<std::optional<Element>> Iterator::Next() {
  STOKER_ASSIGN_OR_RETURN(const bool more, Skip());
  if (!more) return std::nullopt;
  return NextOrSkipped();
}

// False at the end of the pass. What is lost on the way was logged when the position was saved;
// the outermost iterator's position is older, and its logs have been cut back to it.
Result<bool> Iterator::Skip() {
  for (; skip_ > 0; --skip_) {
    std::optional<LossScope> logged_before;
    if (!outermost_) logged_before.emplace();
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> skipped, NextOrSkipped());
    if (!skipped) return false;
  }
  return true;
}

Result<std::optional<Element>> Iterator::NextOrSkipped() {
  return Guarded<Element>([&] {
    Result<std::optional<Element>> element =
        counting_ == Counting::kHere ? CountedNext() : DoNext();
    if (!tolerant_ && element.ok() && *element && (*element)->failure) {
      element = (*element)->failure->reason;
    }
    return element;
  });
}

Result<std::optional<Rows>> Iterator::NextRows(int64_t most) {
  if (!spec_.ElementBytes()) {
    return FailedPrecondition(
        "{}: elements of {} differ in shape, so they make no rows; read them one by one",
        stats_.name(), spec_.ToString());
  }
  STOKER_ASSIGN_OR_RETURN(const bool more, Skip());
  if (!more) return std::nullopt;
  return Guarded<Rows>([&] { return DoNextRows(most); });
}

Result<std::optional<Rows>> Iterator::DoNextRows(int64_t) {
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element,
                          counting_ == Counting::kHere ? CountedNext() : DoNext());
  if (!element) return std::nullopt;
  if (element->failure) return element->failure->reason;
  return ElementAsRows(*std::move(element));
}

Status Iterator::CheckStop() const {
  return stop_->raised() || StopScope::AskedNowAndThen() ? AskedToStop(stats_.name()) : OkStatus();
}

Result<std::optional<Element>> Iterator::CountedNext() {
  const ScopedStageTime time(stats_);
  Result<std::optional<Element>> element = DoNext();
  if (!element.ok()) {
    if (element.status().code() != StatusCode::kCancelled) stats_.AddError();
  } else if (*element) {
    if ((*element)->failure) {
      stats_.AddError();
    } else {
      stats_.AddElements(1, (*element)->num_bytes());
    }
  }
  return element;
}

Status Iterator::Restore(const Json& state) {
  if (started_)
    return FailedPrecondition(
        "an iterator can be restored once, and only before its first element; open a new one");
  started_ = true;
  if (!state.is_object())
    return DataLoss("a saved pipeline position is no JSON object; the checkpoint is damaged");
  if (outermost_) STOKER_RETURN_IF_ERROR(CheckSamePass(state, *pass_));
  if (state.contains(kSkip)) {
    STOKER_ASSIGN_OR_RETURN(skip_, SavedInteger(state, kSkip));
  }
  const StopScope scope([this] { return stop_->raised(); });
  if (!outermost_) return DoRestore(state);
  const LossScope logged_before;
  STOKER_RETURN_IF_ERROR(DoRestore(state));
  const auto logs = state.find(kLogs);
  return keeps_logs_ && logs != state.end() ? pass_->loss_logs().CutBack(*logs) : OkStatus();
}

Result<Json> Iterator::Save() const {
  if (broken_off_) {
    return FailedPrecondition(
        "{}: an error ended the pass in the middle of an element, so it stands nowhere; save "
        "before, after an element ({})",
        stats_.name(), error_.message());
  }
  STOKER_ASSIGN_OR_RETURN(Json state, DoSave());
  if (skip_ > 0) state[kSkip] = skip_;
  if (outermost_) {
    state["seed"] = pass_->seed();
    if (pass_->draws_order()) TakeForTheseOrders(state);
  }
  if (keeps_logs_) {
    if (Json logs = pass_->loss_logs().Save(); !logs.is_null()) state[kLogs] = std::move(logs);
  }
  return state;
}

Profile Iterator::GetProfile() const { return pass_->GetProfile(); }

const DecisionLog& Iterator::decisions() const { return pass_->decisions(); }

void SkipMore(int64_t elements, Json& state) {
  if (elements <= 0) return;
  // More than can be counted is more than there are.
  const std::optional<int64_t> all = AddSizes(state.value(kSkip, int64_t{0}), elements);
  state[kSkip] = all.value_or(std::numeric_limits<int64_t>::max());
}

Result<uint64_t> SavedUnsigned(const Json& state, const char* key) {
  const auto found = state.find(key);
  if (found == state.end() || !found->is_number_integer()) {
    return DataLoss(
        "the saved pipeline position has no integer '{}'; it was saved by another pipeline or is "
        "damaged",
        key);
  }
  // Only what is above 2^63 is stored unsigned in any case.
  if (found->is_number_unsigned() || found->get<int64_t>() >= 0) return found->get<uint64_t>();
  return DataLoss("the saved pipeline position has '{}' {}, which cannot be; it is damaged", key,
                  found->get<int64_t>());
}

Result<int64_t> SavedInteger(const Json& state, const char* key) {
  STOKER_ASSIGN_OR_RETURN(const uint64_t number, SavedUnsigned(state, key));
  if (std::in_range<int64_t>(number)) return static_cast<int64_t>(number);
  return DataLoss("the saved pipeline position has '{}' {}, which cannot be; it is damaged", key,
                  number);
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

Result<Json> WithInputState(Json state, const Iterator& input) {
  STOKER_ASSIGN_OR_RETURN(state["input"], input.Save());
  return state;
}

Status RestoreInput(const Json& state, Iterator& input) {
  STOKER_ASSIGN_OR_RETURN(const Json saved, SavedObject(state, "input"));
  return input.Restore(saved);
}

}  // namespace stoker
