#include "stoker/data/ops/interleave_iterator_internal.h"

#include <algorithm>
#include <bit>
#include <map>

#include "stoker/data/core/failure.h"
#include "stoker/data/core/saved_count.h"
#include "stoker/data/core/saved_unsigned.h"
#include "stoker/data/core/stage_time.h"
#include "stoker/data/ops/combine_internal.h"
#include "stoker/data/runtime/read_ahead.h"

namespace stoker {
namespace {

// A number for each pair of an input's key and an element's key in it, all different: from below,
// how many bits the input's key has (6 bits), that key, the element's. So 100,000 inputs leave 40
// bits for each, enough for the bytes of a terabyte.
Result<int64_t> NumberOfPair(int64_t input, int64_t element) {
  constexpr int kLengthBits = 6;
  const int input_bits = std::bit_width(static_cast<uint64_t>(input));
  const int element_bits = std::bit_width(static_cast<uint64_t>(element));
  if (kLengthBits + input_bits + element_bits > 63) {
    return OutOfRange(
        "interleave: element {} of input {} has no number of its own within 63 bits; interleave "
        "fewer inputs, or shorter ones",
        element, input);
  }
  return ((element << input_bits | input) << kLengthBits) | input_bits;
}

// Which place of a saved cycle has which input. Each is one of those that are pulled again: none
// would else come into its place, and its elements would be missing.
Result<std::map<int64_t, size_t>> PlacesByInput(const Json& cycle, int64_t from, int64_t next) {
  std::map<int64_t, size_t> place_of;
  if (from > next) {
    return DataLoss(
        "interleave: the saved position goes on with input {}, but back to {}; it is damaged", next,
        from);
  }
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (cycle[i].is_null()) continue;
    STOKER_ASSIGN_OR_RETURN(const int64_t ordinal, SavedInteger(cycle[i], "ordinal"));
    if (ordinal >= from && ordinal < next && place_of.emplace(ordinal, i).second) continue;
    return DataLoss(
        "interleave: the saved position has input {} in place {}, which is not one of {} to {}, or "
        "has a place already; it is damaged",
        ordinal, i, from, next - 1);
  }
  return place_of;
}

}  // namespace

Status InterleavedInputs::Open() {
  if (node_.listed()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(source_, context_.OpenInput(node_.input()));
  return OkStatus();
}

Result<Json> InterleavedInputs::Save() const {
  Json state{{"epoch", context_.epoch()}, {"next", next_}};
  if (source_) {
    STOKER_ASSIGN_OR_RETURN(state["source"], source_->Save());
  }
  return state;
}

Status InterleavedInputs::Restore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(const uint64_t epoch, SavedUnsigned(state, "epoch"));
  context_ = context_.WithEpoch(epoch);
  STOKER_ASSIGN_OR_RETURN(next_, SavedInteger(state, "next"));
  if (!source_) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const Json source, SavedObject(state, "source"));
  return source_->Restore(source);
}

Result<std::optional<InterleavedInputs::Pulled>> InterleavedInputs::Pull() {
  Pulled pulled{.ordinal = next_};
  STOKER_ASSIGN_OR_RETURN(pulled.before, Save());
  if (source_) {
    STOKER_ASSIGN_OR_RETURN(pulled.element, source_->Next());
    if (!pulled.element) return std::nullopt;
  } else if (next_ >= std::ssize(node_.inputs())) {
    return std::nullopt;
  }
  ++next_;
  return pulled;
}

Result<std::unique_ptr<Iterator>> InterleavedInputs::OpenInput(const Pulled& pulled) const {
  if (!pulled.element)
    return context_.OpenInput(node_.inputs()[static_cast<size_t>(pulled.ordinal)]);
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset, node_.Make(*pulled.element));
  const SampleKey& key = pulled.element->key;
  return context_.WithEpoch(key.epoch).OpenChild(node_, dataset, key.index, /*threads=*/1);
}

Result<SampleKey> InterleavedInputs::KeyOf(const Pulled& pulled, const SampleKey& key) const {
  if (!pulled.element) return KeyOfInput(key, pulled.ordinal, std::ssize(node_.inputs()));
  STOKER_ASSIGN_OR_RETURN(const int64_t number, NumberOfPair(pulled.element->key.index, key.index));
  return SampleKey{key.epoch, number};
}

InterleaveIterator::InterleaveIterator(const OpenContext& context, const InterleavedNode& node)
    : Iterator(context, node),
      node_(node),
      cycle_(node.cycle()),
      ahead_(cycle_.parallel && pass().runtime().kind == Runtime::Kind::kThreaded
                 ? static_cast<size_t>(cycle_.length)
                 : 0),
      doorbell_(ahead_ > 0 && !cycle_.deterministic && context.any_order()
                    ? std::make_shared<Doorbell>()
                    : nullptr),
      inside_(std::make_shared<StopFlag>(context.stop())),
      inputs_(context.WithStop(inside_), node),
      places_(static_cast<size_t>(cycle_.length)) {}

Result<std::optional<Element>> InterleaveIterator::DoNext() {
  while (true) {
    STOKER_RETURN_IF_ERROR(CheckStop());
    if (doorbell_) STOKER_RETURN_IF_ERROR(TakeReadyTurn());
    std::optional<Input>& place = places_[turn_];
    if (!place) {
      STOKER_ASSIGN_OR_RETURN(const bool filled, FillPlace(turn_));
      if (!filled && filled_.empty()) return std::nullopt;
      if (!filled) {
        EndTurn();
        continue;
      }
    }
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, place->iterator->Next());
    if (element) {
      STOKER_ASSIGN_OR_RETURN(element->key, inputs_.KeyOf(place->pulled, element->key));
      if (++in_block_ == cycle_.block) EndTurn();
      return element;
    }
    EmptyPlace(turn_);
    // An input that gives nothing in its turn had ended before: its place is free in this turn.
    if (in_block_ > 0) EndTurn();
  }
}

// Where there are more places than inputs, most of them are passed over at once.
void InterleaveIterator::EndTurn() {
  in_block_ = 0;
  turn_ = (turn_ + 1) % places_.size();
  if (!NothingWaits() || filled_.empty()) return;
  const auto next = filled_.lower_bound(turn_);
  turn_ = next == filled_.end() ? *filled_.begin() : *next;
}

Status InterleaveIterator::TakeReadyTurn() {
  for (size_t i = 0; i < places_.size() && filled_.size() < places_.size() && !NothingWaits(); ++i)
    if (!places_[i]) STOKER_RETURN_IF_ERROR(FillPlace(i).status());
  while (!filled_.empty()) {
    const int64_t rings = doorbell_->rings();
    const std::optional<size_t> ready = FirstReadyPlace();
    if (ready) {
      if (*ready != turn_) in_block_ = 0;
      turn_ = *ready;
      break;
    }
    const ScopedInputWait wait(pass());
    if (!doorbell_->WaitBeyond(rings)) return AskedToStop(stats().name());
  }
  return OkStatus();
}

std::optional<size_t> InterleaveIterator::FirstReadyPlace() const {
  auto at = filled_.lower_bound(turn_);
  for (size_t i = 0; i < filled_.size(); ++i, ++at) {
    if (at == filled_.end()) at = filled_.begin();
    if (HasSomething(*places_[*at]->iterator)) return *at;
  }
  return std::nullopt;
}

void InterleaveIterator::OpenAhead() {
  const size_t wanted = ahead_ == 0 ? 1 : places_.size() - filled_.size() + ahead_;
  while (waiting_.size() < wanted && pull_error_.ok() && !all_pulled_) {
    Result<std::optional<InterleavedInputs::Pulled>> pulled = inputs_.Pull();
    pull_error_ = pulled.status();
    all_pulled_ = pulled.ok() && !*pulled;
    if (!pull_error_.ok() || all_pulled_) return;
    Result<std::unique_ptr<Iterator>> iterator = OpenInput(**pulled);
    waiting_.push_back({**std::move(pulled), std::move(iterator)});
  }
}

Result<std::unique_ptr<Iterator>> InterleaveIterator::OpenInput(
    const InterleavedInputs::Pulled& pulled) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> iterator, inputs_.OpenInput(pulled));
  if (ahead_ > 0) STOKER_RETURN_IF_ERROR(StartAhead(*iterator, doorbell_));
  return iterator;
}

Result<bool> InterleaveIterator::FillPlace(size_t place) {
  OpenAhead();
  if (waiting_.empty()) {
    STOKER_RETURN_IF_ERROR(pull_error_);
    return false;
  }
  Waiting& next = waiting_.front();
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> iterator, std::move(next.iterator));
  places_[place] = Input{std::move(next.pulled), std::move(iterator)};
  filled_.insert(place);
  waiting_.pop_front();
  return true;
}

void InterleaveIterator::EmptyPlace(size_t place) {
  places_[place].reset();
  filled_.erase(place);
}

// Those that wait have given nothing yet, so they are opened again. `from` is where the inputs are
// to be pulled from again: the oldest that has a place.
Result<Json> InterleaveIterator::DoSave() const {
  Json cycle = Json::array();
  const InterleavedInputs::Pulled* oldest = nullptr;
  for (const std::optional<Input>& place : places_) {
    Json saved;
    if (place) {
      saved["ordinal"] = place->pulled.ordinal;
      STOKER_ASSIGN_OR_RETURN(saved["state"], place->iterator->Save());
      if (oldest == nullptr || place->pulled.ordinal < oldest->ordinal) oldest = &place->pulled;
    }
    cycle.push_back(std::move(saved));
  }
  if (oldest == nullptr && !waiting_.empty()) oldest = &waiting_.front().pulled;
  Json state{{"turn", turn_},
             {"in_block", in_block_},
             {"next", waiting_.empty() ? inputs_.next() : waiting_.front().pulled.ordinal},
             {"cycle", std::move(cycle)}};
  if (oldest != nullptr) {
    state["from"] = oldest->before;
  } else {
    STOKER_ASSIGN_OR_RETURN(state["from"], inputs_.Save());
  }
  return state;
}

Status InterleaveIterator::DoRestore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(const int64_t turn,
                          SavedCount(node_.name(), state, "turn", std::ssize(places_) - 1));
  STOKER_ASSIGN_OR_RETURN(in_block_, SavedCount(node_.name(), state, "in_block", cycle_.block - 1));
  STOKER_ASSIGN_OR_RETURN(const int64_t next, SavedCount(node_.name(), state, "next"));
  STOKER_ASSIGN_OR_RETURN(const Json from, SavedObject(state, "from"));
  const auto cycle = state.find("cycle");
  if (cycle == state.end() || !cycle->is_array() || cycle->size() != places_.size()) {
    return DataLoss(
        "interleave: the saved position has no cycle of length {}; it was saved by another "
        "pipeline or is damaged",
        places_.size());
  }
  turn_ = static_cast<size_t>(turn);
  STOKER_RETURN_IF_ERROR(inputs_.Restore(from));
  STOKER_ASSIGN_OR_RETURN(const auto place_of, PlacesByInput(*cycle, inputs_.next(), next));
  if (in_block_ > 0 && (*cycle)[turn_].is_null()) {
    return DataLoss(
        "interleave: the saved position is in the turn of place {}, which has no input; it is "
        "damaged",
        turn_);
  }
  while (inputs_.next() < next) {
    STOKER_RETURN_IF_ERROR(CheckStop());
    STOKER_ASSIGN_OR_RETURN(std::optional<InterleavedInputs::Pulled> pulled, inputs_.Pull());
    if (!pulled) {
      return OutOfRange(
          "interleave: the saved position is in input {}, but there are only {}; have the data "
          "changed?",
          next - 1, inputs_.next());
    }
    const auto found = place_of.find(pulled->ordinal);
    if (found == place_of.end()) continue;
    STOKER_ASSIGN_OR_RETURN(const Json saved, SavedObject((*cycle)[found->second], "state"));
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> iterator, inputs_.OpenInput(*pulled));
    STOKER_RETURN_IF_ERROR(iterator->Restore(saved));
    if (ahead_ > 0) STOKER_RETURN_IF_ERROR(StartAhead(*iterator, doorbell_));
    places_[found->second] = Input{*std::move(pulled), std::move(iterator)};
    filled_.insert(found->second);
  }
  return OkStatus();
}

}  // namespace stoker
