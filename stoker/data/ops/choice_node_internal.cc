#include "stoker/data/ops/choice_node_internal.h"

#include <algorithm>
#include <iterator>

#include "stoker/data/core/drawn_order.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_count.h"
#include "stoker/data/core/saved_unsigned.h"

namespace stoker {
namespace {

// Rounds of a repeated input are epochs far from those that a run comes to.
constexpr int kRoundShift = 32;

Result<bool> SavedFlag(const Json& state, const char* key) {
  const auto found = state.find(key);
  if (found != state.end() && found->is_boolean()) return found->get<bool>();
  return DataLoss(
      "the saved position of an input has no '{}'; it was saved by another pipeline or is damaged",
      key);
}

Cardinality CardinalityOf(const Choice& choice) {
  for (const Dataset& input : choice.inputs) {
    if (input.cardinality() == Cardinality::Unknown()) return Cardinality::Unknown();
  }
  return choice.choices ? Cardinality::Unknown() : choice.plan.length();
}

std::vector<Dataset> AllInputs(const Choice& choice) {
  std::vector<Dataset> all = choice.inputs;
  if (choice.choices) all.push_back(*choice.choices);
  return all;
}

class ChoiceNode final : public DatasetNode, public DrawnOrder {
 public:
  explicit ChoiceNode(Choice choice)
      : DatasetNode(choice.name, choice.spec, CardinalityOf(choice), AllInputs(choice)),
        choice_(std::move(choice)),
        orders_(choice_.plan) {}

  std::string Details() const override { return choice_.details; }
  KeyOrigin key_origin() const override { return KeyOrigin::kInputs; }
  std::string_view Disturbs() const override { return "takes elements from its inputs in turn"; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return MemoryToGather(*this, count);
  }
  bool random_access() const override {
    return cardinality() != Cardinality::Unknown() && AllRandomAccess(inputs());
  }
  bool random() const override { return choice_.plan.shuffled(); }
  bool draws_order() const override { return choice_.plan.shuffled(); }
  bool rereadable() const override { return AllRereadable(inputs()) && !choice_.choices; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const Choice& choice() const { return choice_; }

  // The plan's order in this epoch, which readers by position share.
  std::shared_ptr<const ChoicePlan::Ordered> Order(const OrderKey& key) const {
    return orders_.Get(key);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const auto order = Order({context.seed(), context.epoch(), context.stage_number(*this)});
    return ReadPlace(*this, order->At(position), context);
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return ReadKeyOfInput(*this, key, context);
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    const auto order = Order({context.seed(), context.epoch(), context.stage_number(*this)});
    std::vector<Place> places;
    places.reserve(positions.size());
    for (const int64_t position : positions) places.push_back(order->At(position));
    return GatherPlaces(*this, places, context);
  }

 private:
  const Choice choice_;
  const ChoiceOrders orders_;
};

class ChoiceIterator final : public Iterator {
 public:
  ChoiceIterator(const OpenContext& context, const ChoiceNode& node)
      : Iterator(context, node),
        inside_(std::make_shared<StopFlag>(context.stop())),
        context_(context.ForOneOf(node.inputs().size()).WithStop(inside_)),
        node_(node),
        choice_(node.choice()),
        epoch_(context.epoch()),
        inputs_(choice_.inputs.size()) {}
  ~ChoiceIterator() override { inside_->Raise(); }

  Status Open() {
    for (size_t i = 0; i < inputs_.size(); ++i) STOKER_RETURN_IF_ERROR(OpenRound(i));
    if (choice_.choices) {
      STOKER_ASSIGN_OR_RETURN(choices_, context_.OpenInput(*choice_.choices));
    } else {
      FindOrder();
    }
    return OkStatus();
  }

 private:
  struct Input {
    std::unique_ptr<Iterator> iterator;
    int64_t round = 0;  // how often it has begun again
    bool fresh = true;  // nothing has come in this round
    bool seen_whole = false;
    bool spent = false;  // nothing more comes from it
  };

  void FindOrder() { order_ = node_.Order({pass().seed(), epoch_, pass().stage(node_).number}); }

  Result<std::optional<Element>> DoNext() override {
    while (!over_ &&
           !std::ranges::all_of(inputs_, [](const Input& input) { return input.spent; })) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<size_t> number, NextChoice());
      if (!number) return std::nullopt;
      Input& input = inputs_[*number];
      while (!input.spent) {
        STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input.iterator->Next());
        if (element) {
          input.fresh = false;
          STOKER_ASSIGN_OR_RETURN(
              element->key,
              KeyOfInput(element->key, static_cast<int64_t>(*number), std::ssize(inputs_)));
          return element;
        }
        STOKER_ASSIGN_OR_RETURN(const bool goes_on, AtEnd(*number));
        over_ = !goes_on;
        if (over_) return std::nullopt;
      }
      STOKER_RETURN_IF_ERROR(CheckStop());
    }
    return std::nullopt;
  }

  // The number of the input that is next; nothing at the end of the plan or of the choices.
  Result<std::optional<size_t>> NextChoice() {
    if (!choices_) {
      if (drawn_ >= choice_.plan.length().value()) return std::nullopt;
      return static_cast<size_t>(order_->At(drawn_++).input);
    }
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, choices_->Next());
    if (!element) return std::nullopt;
    const int64_t number = IntegerOf(element->arrays.front());
    if (number < 0 || number >= std::ssize(inputs_)) {
      return OutOfRange("{}: element {} of the choices is {}, but the inputs are 0..{}",
                        node_.name(), element->key.index, number, inputs_.size() - 1);
    }
    ++drawn_;
    return static_cast<size_t>(number);
  }

  static int64_t IntegerOf(const Array& array) {
    switch (array.dtype()) {
      case DType::kUInt8: return array.values<uint8_t>()[0];
      case DType::kInt32: return array.values<int32_t>()[0];
      default: return array.values<int64_t>()[0];
    }
  }

  // What the policy says where input `number` has ended; false: the mixture ends too.
  Result<bool> AtEnd(size_t number) {
    Input& input = inputs_[number];
    input.seen_whole = true;
    const auto seen = [](const Input& each) { return each.seen_whole || each.spent; };
    switch (choice_.policy) {
      case WhenExhausted::kStop: return false;
      case WhenExhausted::kContinue: input.spent = true; break;
      case WhenExhausted::kRepeat:
        if (std::ranges::all_of(inputs_, seen)) return false;
        input.spent = input.fresh;  // empty: it would be for ever
        ++input.round;
        if (!input.spent) STOKER_RETURN_IF_ERROR(OpenRound(number));
        break;
    }
    if (input.spent) input.iterator.reset();
    return true;
  }

  Status OpenRound(size_t number) {
    Input& input = inputs_[number];
    const uint64_t epoch = epoch_ + (static_cast<uint64_t>(input.round) << kRoundShift);
    STOKER_ASSIGN_OR_RETURN(input.iterator,
                            context_.WithEpoch(epoch).OpenInput(choice_.inputs[number]));
    input.fresh = true;
    return OkStatus();
  }

  Result<Json> DoSave() const override {
    Json state{{"epoch", epoch_}, {"drawn", drawn_}, {"over", over_}, {"inputs", Json::array()}};
    for (const Input& input : inputs_) {
      Json saved{{"round", input.round},
                 {"fresh", input.fresh},
                 {"seen_whole", input.seen_whole},
                 {"spent", input.spent}};
      if (!input.spent) {
        STOKER_ASSIGN_OR_RETURN(saved["state"], input.iterator->Save());
      }
      state["inputs"].push_back(std::move(saved));
    }
    if (choices_) {
      STOKER_ASSIGN_OR_RETURN(state["choices"], choices_->Save());
    }
    return state;
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    const int64_t most = choices_ ? kMostCounted : choice_.plan.length().value();
    STOKER_ASSIGN_OR_RETURN(drawn_,
                            SavedCount(node_.name(), state, "drawn", std::min(most, kMostCounted)));
    STOKER_ASSIGN_OR_RETURN(over_, SavedFlag(state, "over"));
    const auto saved = state.find("inputs");
    if (saved == state.end() || !saved->is_array() || saved->size() != inputs_.size()) {
      return DataLoss(
          "{}: the saved pipeline position has no list of {} inputs; it was saved by another "
          "pipeline or is damaged",
          node_.name(), inputs_.size());
    }
    for (size_t i = 0; i < inputs_.size(); ++i)
      STOKER_RETURN_IF_ERROR(RestoreInput(i, (*saved)[i]));
    if (!choices_) {
      FindOrder();
      return OkStatus();
    }
    STOKER_ASSIGN_OR_RETURN(const Json choices, SavedObject(state, "choices"));
    return choices_->Restore(choices);
  }

  Status RestoreInput(size_t number, const Json& saved) {
    Input& input = inputs_[number];
    STOKER_ASSIGN_OR_RETURN(input.round, SavedCount(node_.name(), saved, "round"));
    STOKER_ASSIGN_OR_RETURN(input.fresh, SavedFlag(saved, "fresh"));
    STOKER_ASSIGN_OR_RETURN(input.seen_whole, SavedFlag(saved, "seen_whole"));
    STOKER_ASSIGN_OR_RETURN(input.spent, SavedFlag(saved, "spent"));
    if (input.spent) {
      input.iterator.reset();
      return OkStatus();
    }
    STOKER_ASSIGN_OR_RETURN(const Json state, SavedObject(saved, "state"));
    if (input.round > 0) {
      const bool fresh = input.fresh;
      STOKER_RETURN_IF_ERROR(OpenRound(number));
      input.fresh = fresh;
    }
    return input.iterator->Restore(state);
  }

  const std::shared_ptr<StopFlag> inside_;
  const OpenContext context_;
  const ChoiceNode& node_;
  const Choice& choice_;
  uint64_t epoch_;
  std::vector<Input> inputs_;
  std::shared_ptr<const ChoicePlan::Ordered> order_;  // one of these two is there
  std::unique_ptr<Iterator> choices_;
  int64_t drawn_ = 0;  // choices
  bool over_ = false;  // an input has ended that ends the mixture
};

Result<std::unique_ptr<Iterator>> ChoiceNode::OpenStream(const OpenContext& context) const {
  auto iterator = std::make_unique<ChoiceIterator>(context, *this);
  STOKER_RETURN_IF_ERROR(iterator->Open());
  return iterator;
}

}  // namespace

Dataset ChoiceDataset(Choice choice) {
  return Dataset(std::make_shared<ChoiceNode>(std::move(choice)));
}

WhenExhausted PolicyOf(const std::string& stop) {
  const auto found = std::ranges::find(kStopTexts, stop);
  return static_cast<WhenExhausted>(found - std::begin(kStopTexts));
}

}  // namespace stoker
