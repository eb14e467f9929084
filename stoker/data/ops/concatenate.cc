#include "stoker/data/ops/concatenate.h"

#include <algorithm>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_unsigned.h"
#include "stoker/data/ops/combine_internal.h"

namespace stoker {
namespace {

Result<Cardinality> SummedCardinality(const std::vector<Dataset>& inputs) {
  int64_t sum = 0;
  bool known = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Cardinality n = inputs[i].cardinality();
    if (n.infinite() && i + 1 < inputs.size()) {
      return InvalidArgument(
          "concatenate: input {} has no end, so input {} is never reached; move it to the end, or "
          "put repeat after concatenate",
          i, i + 1);
    }
    if (n.infinite()) return n;
    known = known && n.known();
    if (n.known() && __builtin_add_overflow(sum, n.value(), &sum)) return Cardinality::Infinite();
  }
  return known ? Cardinality::Of(sum) : Cardinality::Unknown();
}

class ConcatenateNode final : public DatasetNode {
 public:
  ConcatenateNode(const std::vector<Dataset>& inputs, Spec spec, Cardinality cardinality)
      : DatasetNode(std::string(Concatenate::kName), std::move(spec), cardinality, inputs) {
    if (!AllRandomAccess(inputs)) return;
    for (const Dataset& input : inputs) {
      begins_.push_back(end_);
      if (input.cardinality().known()) end_ += input.cardinality().value();
    }
  }

  std::string Details() const override { return fmt::format("{} inputs", inputs().size()); }
  KeyOrigin key_origin() const override { return KeyOrigin::kInputs; }
  std::string_view Disturbs() const override { return ""; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return MemoryToGather(*this, count);
  }
  bool random_access() const override { return !begins_.empty(); }
  bool rereadable() const override { return AllRereadable(inputs()); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    return ReadPlace(*this, PlaceOf(position), context);
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return ReadKeyOfInput(*this, key, context);
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    std::vector<Place> places;
    places.reserve(positions.size());
    for (const int64_t position : positions) places.push_back(PlaceOf(position));
    return GatherPlaces(*this, places, context);
  }

 private:
  // Empty inputs begin where the next one does: the last that begins there has the element.
  Place PlaceOf(int64_t position) const {
    const auto after = std::ranges::upper_bound(begins_, position);
    return {after - begins_.begin() - 1, position - *std::prev(after)};
  }

  std::vector<int64_t> begins_;  // of each input, where all are read by position
  int64_t end_ = 0;
};

class ConcatenateIterator final : public Iterator {
 public:
  ConcatenateIterator(const OpenContext& context, const ConcatenateNode& node)
      : Iterator(context, node), context_(context), node_(node), epoch_(context.epoch()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    while (number_ < node_.inputs().size()) {
      if (!input_) STOKER_RETURN_IF_ERROR(OpenInput());
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (element) {
        STOKER_ASSIGN_OR_RETURN(
            element->key,
            KeyOfInput(element->key, static_cast<int64_t>(number_), std::ssize(node_.inputs())));
        return element;
      }
      input_.reset();
      ++number_;
    }
    return std::nullopt;
  }

  Status OpenInput() {
    STOKER_ASSIGN_OR_RETURN(input_, context_.WithEpoch(epoch_).OpenInput(node_.inputs()[number_]));
    return OkStatus();
  }

  Result<Json> DoSave() const override {
    Json state{{"epoch", epoch_}, {"number", number_}};
    if (input_) {
      STOKER_ASSIGN_OR_RETURN(state["input"], input_->Save());
    }
    return state;
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(const int64_t number, SavedInteger(state, "number"));
    if (number > std::ssize(node_.inputs())) {
      return DataLoss(
          "concatenate: the saved position is in input {} of {}; it was saved by another pipeline "
          "or is damaged",
          number, node_.inputs().size());
    }
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    number_ = static_cast<size_t>(number);
    if (!state.contains("input") || number == std::ssize(node_.inputs())) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const Json input, SavedObject(state, "input"));
    STOKER_RETURN_IF_ERROR(OpenInput());
    return input_->Restore(input);
  }

  const OpenContext context_;
  const ConcatenateNode& node_;
  uint64_t epoch_;
  size_t number_ = 0;  // of the input that is read
  std::unique_ptr<Iterator> input_;
};

Result<std::unique_ptr<Iterator>> ConcatenateNode::OpenStream(const OpenContext& context) const {
  return std::make_unique<ConcatenateIterator>(context, *this);
}

}  // namespace

template <>
const std::vector<Option>& OptionsOf<Concatenate>() {
  static const auto options = WithObjects<Concatenate>(
      {ObjectOption("inputs", &Concatenate::inputs, "the pipelines, first one first",
                    /*required=*/true)});
  return options;
}

Result<Dataset> Concatenate::Build() const {
  STOKER_ASSIGN_OR_RETURN(const std::vector<Dataset> datasets, inputs.Build(kName));
  STOKER_ASSIGN_OR_RETURN(Spec spec, CommonSpec(kName, datasets));
  STOKER_ASSIGN_OR_RETURN(const Cardinality cardinality, SummedCardinality(datasets));
  return Dataset(std::make_shared<ConcatenateNode>(datasets, std::move(spec), cardinality));
}

}  // namespace stoker
