#include "stoker/data/ops/take_while.h"

#include <utility>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/filter_by_internal.h"

namespace stoker {
namespace {

// Drops the answers, and ends at the first that is no.
class TakeWhileNode final : public DatasetNode {
 public:
  TakeWhileNode(Dataset answered, Spec spec)
      : DatasetNode(std::string(TakeWhile::kName), std::move(spec),
                    answered.cardinality() == Cardinality::Of(0) ? Cardinality::Of(0)
                                                                 : Cardinality::Unknown(),
                    {answered}) {}

  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return "leaves elements out"; }
  bool tolerates_errors() const override { return input().node().tolerates_errors(); }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return input().node().MemoryToRead(count);
  }
  bool rereadable() const override { return input().node().rereadable(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

 protected:
  // The key is that of an element that was kept.
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(Element element, input().node().ReadKey(key, context));
    element.arrays.pop_back();
    return element;
  }
};

class TakeWhileIterator final : public Iterator {
 public:
  TakeWhileIterator(const OpenContext& context, const DatasetNode& node,
                    std::unique_ptr<Iterator> input)
      : Iterator(context, node), input_(std::move(input)) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    if (over_) return std::nullopt;
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    if (!element || element->failure) return element;
    over_ = !element->arrays.back().values<bool>()[0];
    if (over_) return std::nullopt;
    element->arrays.pop_back();
    return element;
  }

  Result<Json> DoSave() const override { return WithInputState({{"over", over_}}, *input_); }

  Status DoRestore(const Json& state) override {
    if (!state.contains("over") || !state["over"].is_boolean()) {
      return DataLoss(
          "{}: the saved position does not say whether it is over; it was saved by another "
          "pipeline or is damaged",
          TakeWhile::kName);
    }
    over_ = state["over"].get<bool>();
    return RestoreInput(state, *input_);
  }

  const std::unique_ptr<Iterator> input_;
  bool over_ = false;  // an element did not meet the conditions
};

Result<std::unique_ptr<Iterator>> TakeWhileNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInputAlike(this->input()));
  return std::make_unique<TakeWhileIterator>(context, *this, std::move(input));
}

}  // namespace

void TakeWhile::Describe(OptionTable<TakeWhile>& table) {
  table.Field("field", &TakeWhile::field, "field that the conditions are on, of one number")
      .Field("equals", &TakeWhile::equals, "go on while it is one of these; empty: any")
      .Field("except", &TakeWhile::except, "go on while it is none of these")
      .Field("min", &TakeWhile::min, "go on while it is this or more; auto: any")
      .Field("max", &TakeWhile::max, "go on while it is this or less; auto: any");
}

Result<Dataset> TakeWhile::Build(Dataset input) const {
  const Spec spec = input.spec();
  const Filter conditions{.field = field,
                          .equals = equals,
                          .except = except,
                          .min = min,
                          .max = max,
                          .predicate = predicate};
  STOKER_ASSIGN_OR_RETURN(Dataset answered, WithCondition(kName, conditions, std::move(input)));
  return Dataset(std::make_shared<TakeWhileNode>(std::move(answered), spec));
}

}  // namespace stoker
