#include "stoker/data/ops/filter.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "stoker/data/core/failure.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/filter_by_internal.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

// Elements travel from the condition to the filter with its answer as one more field.
constexpr std::string_view kAnswer = "keep";

// The conditions on a number.
class NumberCondition {
 public:
  explicit NumberCondition(const Filter& options)
      : equals_(options.equals), except_(options.except), min_(options.min), max_(options.max) {}

  bool given() const { return !equals_.empty() || !except_.empty() || min_ || max_; }
  bool Holds(double number) const {
    const auto is_number = [number](double listed) { return listed == number; };
    return (equals_.empty() || std::ranges::any_of(equals_, is_number)) &&
           std::ranges::none_of(except_, is_number) && (!min_ || number >= *min_) &&
           (!max_ || number <= *max_);
  }
  std::string ToString() const {
    std::string text;
    if (!equals_.empty()) text += fmt::format(" in [{}]", fmt::join(equals_, ", "));
    if (!except_.empty()) text += fmt::format(" not in [{}]", fmt::join(except_, ", "));
    if (min_) text += fmt::format(" >= {}", *min_);
    if (max_) text += fmt::format(" <= {}", *max_);
    return text;
  }

 private:
  const std::vector<double> equals_, except_;
  const std::optional<double> min_, max_;
};

using Predicate = std::function<Result<bool>(const Element&)>;

// Adds the answer to an element, without looking at how many there are.
class ConditionTransform final : public Transform {
 public:
  ConditionTransform(std::string name, std::optional<size_t> field, NumberCondition condition,
                     Predicate predicate)
      : name_(std::move(name)),
        field_(field),
        condition_(std::move(condition)),
        predicate_(std::move(predicate)) {}

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    Array answer = scratch.NewArray(DType::kBool, {});
    bool& keep = answer.values<bool>()[0];
    keep = true;
    if (field_) AskNumbers(element.arrays[*field_], answer.values<bool>());
    if (keep) STOKER_RETURN_IF_ERROR(AskPredicate(element, keep));
    element.arrays.push_back(std::move(answer));
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& /*rngs*/, Scratch& scratch) const override {
    Array answers = scratch.NewArray(DType::kBool, {rows.size()});
    const std::span<bool> keep = answers.values<bool>();
    std::ranges::fill(keep, true);
    if (field_) AskNumbers(rows.columns[*field_], keep);
    for (size_t i = 0; predicate_ && i < keep.size(); ++i) {
      if (!keep[i]) continue;
      if (scratch.stopped()) return AskedToStop(name_);
      STOKER_RETURN_IF_ERROR(AskPredicate(rows.RowElement(static_cast<int64_t>(i)), keep[i]));
    }
    rows.columns.push_back(std::move(answers));
    return OkStatus();
  }

  bool random() const override { return false; }
  bool works_on_columns() const override { return true; }

 private:
  void AskNumbers(const Array& numbers, std::span<bool> keep) const {
    constexpr size_t kAtOnce = 64;
    double values[kAtOnce];
    const size_t size = DTypeSize(numbers.dtype());
    for (size_t begin = 0; begin < keep.size(); begin += kAtOnce) {
      const size_t n = std::min(kAtOnce, keep.size() - begin);
      CastValues(numbers.dtype(), numbers.data() + begin * size, n, DType::kFloat64,
                 reinterpret_cast<std::byte*>(values));
      for (size_t i = 0; i < n; ++i) keep[begin + i] = condition_.Holds(values[i]);
    }
  }

  Status AskPredicate(const Element& element, bool& keep) const {
    if (!predicate_) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(
        keep, CatchExceptions([&] { return predicate_(element); }, "{}: element {}: the predicate",
                              name_, element.key.index));
    return OkStatus();
  }

  const std::string name_;
  const std::optional<size_t> field_;  // the one with the number; nothing: no such condition
  const NumberCondition condition_;
  const Predicate predicate_;
};

// Drops the elements whose answer is no, and the answers of the others.
class FilterNode final : public DatasetNode {
 public:
  FilterNode(std::string name, std::string details, Dataset answered, Spec spec)
      : DatasetNode(std::move(name), std::move(spec),
                    answered.cardinality() == Cardinality::Of(0) ? Cardinality::Of(0)
                                                                 : Cardinality::Unknown(),
                    {answered}),
        details_(std::move(details)) {}

  std::string Details() const override { return details_; }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return "leaves elements out"; }
  bool tolerates_errors() const override { return input().node().tolerates_errors(); }
  // For the elements that are kept; one that is dropped is freed before the next is asked for.
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

 private:
  const std::string details_;
};

class FilterIterator final : public Iterator {
 public:
  FilterIterator(const OpenContext& context, const DatasetNode& node,
                 std::unique_ptr<Iterator> input)
      : Iterator(context, node), input_(std::move(input)) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    while (true) {
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (!element || element->failure) return element;
      const bool keep = element->arrays.back().values<bool>()[0];
      if (!keep) continue;
      element->arrays.pop_back();
      return element;
    }
  }

  // No element is held between calls.
  Result<Json> DoSave() const override { return WithInputState({}, *input_); }

  Status DoRestore(const Json& state) override { return RestoreInput(state, *input_); }

  const std::unique_ptr<Iterator> input_;
};

Result<std::unique_ptr<Iterator>> FilterNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInputAlike(this->input()));
  return std::make_unique<FilterIterator>(context, *this, std::move(input));
}

// The field that the conditions are on, which must hold one number.
Result<size_t> FindNumber(std::string_view who, const Spec& spec, const std::string& name) {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(spec, who, "field", name));
  const Shape& shape = spec.fields[index].shape;
  if (!IsFullyKnown(shape) || NumValues(shape) != 1) {
    return InvalidArgument(
        "{}: field '{}' has shape {}; conditions are on fields of one number: {} before "
        "`batch`, or in C++ by a predicate",
        who, name, ShapeToString(shape), who);
  }
  return index;
}

Spec WithAnswer(Spec spec) {
  spec.fields.push_back({std::string(kAnswer), DType::kBool, {}});
  return spec;
}

}  // namespace

Dataset FilterBy(Dataset input, const std::string& name, std::string details,
                 std::function<Result<bool>(const Element&)> predicate) {
  const Spec spec = input.spec();
  Dataset answered =
      MapDataset(std::move(input), name + "_condition", "", WithAnswer(spec),
                 std::make_shared<ConditionTransform>(name, std::nullopt, NumberCondition(Filter()),
                                                      std::move(predicate)));
  return Dataset(std::make_shared<FilterNode>(name, std::move(details), std::move(answered), spec));
}

Dataset FilterByTransform(Dataset input, std::string details,
                          std::shared_ptr<const Transform> answers) {
  const Spec spec = input.spec();
  Dataset answered = MapDataset(std::move(input), fmt::format("{}_condition", Filter::kName),
                                std::move(details), WithAnswer(spec), std::move(answers));
  return Dataset(
      std::make_shared<FilterNode>(std::string(Filter::kName), "", std::move(answered), spec));
}

void Filter::Describe(OptionTable<Filter>& table) {
  table.Field("field", &Filter::field, "field that the conditions are on, of one number")
      .Field("equals", &Filter::equals, "keep where it is one of these; empty: any")
      .Field("except", &Filter::except, "keep where it is none of these")
      .Field("min", &Filter::min, "keep where it is this or more; auto: any")
      .Field("max", &Filter::max, "keep where it is this or less; auto: any");
}

Result<Dataset> WithCondition(std::string_view who, const Filter& conditions, Dataset input) {
  const NumberCondition condition(conditions);
  if (!condition.given() && !conditions.predicate) {
    return InvalidArgument(
        "{0}: there is no condition; give equals, except, min or max, such as `{0}: {{field: "
        "label, equals: 3}}`, or in C++ a predicate",
        who);
  }
  if (conditions.min && conditions.max && *conditions.min > *conditions.max) {
    return InvalidArgument("{}: min is {}, max is {}; nothing lies between", who, *conditions.min,
                           *conditions.max);
  }
  std::optional<size_t> index;
  if (condition.given()) {
    STOKER_ASSIGN_OR_RETURN(index, FindNumber(who, input.spec(), conditions.field));
  }
  std::string details = condition.given() ? conditions.field + condition.ToString() : "";
  if (conditions.predicate) details += details.empty() ? "a function" : " and a function";
  const Spec answered = WithAnswer(input.spec());
  return MapDataset(std::move(input), fmt::format("{}_condition", who), std::move(details),
                    answered,
                    std::make_shared<ConditionTransform>(std::string(who), index, condition,
                                                         conditions.predicate));
}

Result<Dataset> Filter::Build(Dataset input) const {
  const Spec spec = input.spec();
  STOKER_ASSIGN_OR_RETURN(Dataset answered, WithCondition(kName, *this, std::move(input)));
  return Dataset(std::make_shared<FilterNode>(std::string(kName), "", std::move(answered), spec));
}

}  // namespace stoker
