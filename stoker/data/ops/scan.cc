#include "stoker/data/ops/scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "stoker/data/core/add_field.h"
#include "stoker/data/core/check_element.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// What a function of recipes makes of its state, which it updates, and the next value.
using Function = double (*)(std::vector<double>& state, double value);

struct NamedFunction {
  std::string_view name;
  std::vector<double> initial;
  Function next;
};

const std::vector<NamedFunction>& Functions() {
  static const std::vector<NamedFunction> functions = {
      {"sum", {0}, [](std::vector<double>& state, double value) { return state[0] += value; }},
      {"product", {1}, [](std::vector<double>& state, double value) { return state[0] *= value; }},
      {"min",
       {std::numeric_limits<double>::infinity()},
       [](std::vector<double>& state, double value) {
         return state[0] = std::min(state[0], value);
       }},
      {"max",
       {-std::numeric_limits<double>::infinity()},
       [](std::vector<double>& state, double value) {
         return state[0] = std::max(state[0], value);
       }},
      {"mean",
       {0, 0},  // the mean, and of how many values
       [](std::vector<double>& state, double value) {
         state[1] += 1;
         return state[0] += (value - state[0]) / state[1];
       }},
      {"previous",
       {kNothing},
       [](std::vector<double>& state, double value) { return std::exchange(state[0], value); }},
      {"change", {kNothing}, [](std::vector<double>& state, double value) {
         return value - std::exchange(state[0], value);
       }}};
  return functions;
}

std::vector<std::string> FunctionNames() {
  std::vector<std::string> names;
  for (const NamedFunction& function : Functions()) names.emplace_back(function.name);
  return names;
}

class ScanNode final : public DatasetNode {
 public:
  ScanNode(Dataset input, std::string details, Spec spec, Scan::Step step,
           std::vector<double> initial)
      : DatasetNode(std::string(Scan::kName), std::move(spec), input.cardinality(), {input}),
        details_(std::move(details)),
        step_(std::move(step)),
        initial_(std::move(initial)) {}

  std::string Details() const override { return details_; }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  // What comes before an element is the same in every pass only if the order is.
  std::string_view Disturbs() const override {
    return input().node().fixed_order() ? "" : "makes elements of those that precede them";
  }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  Status Next(std::vector<double>& state, Element& element, Scratch& scratch) const {
    const int64_t index = element.key.index;
    STOKER_RETURN_IF_ERROR(CatchExceptions([&] { return step_(state, element, scratch); },
                                           "scan: element {}: the function", index));
    return CheckElement(Scan::kName, spec(), element);
  }
  const std::vector<double>& initial() const { return initial_; }

 private:
  const std::string details_;
  const Scan::Step step_;
  const std::vector<double> initial_;
};

class ScanIterator final : public Iterator {
 public:
  ScanIterator(const OpenContext& context, const ScanNode& node, std::unique_ptr<Iterator> input)
      : Iterator(context, node), node_(node), input_(std::move(input)), state_(node.initial()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    if (!element) return std::nullopt;
    Scratch scratch(pass().stage(node_).pool);
    STOKER_RETURN_IF_ERROR(node_.Next(state_, *element, scratch));
    return element;
  }

  // As bits, because JSON has no NaN and no infinity.
  Result<Json> DoSave() const override {
    Json values = Json::array();
    for (const double value : state_) values.push_back(std::bit_cast<uint64_t>(value));
    return WithInputState({{"state", std::move(values)}}, *input_);
  }

  Status DoRestore(const Json& state) override {
    const auto values = state.find("state");
    if (values == state.end() || !values->is_array()) return NotOurs();
    state_.clear();
    for (const Json& value : *values) {
      if (!value.is_number_unsigned()) return NotOurs();
      state_.push_back(std::bit_cast<double>(value.get<uint64_t>()));
    }
    return RestoreInput(state, *input_);
  }

  static Status NotOurs() {
    return DataLoss(
        "{}: the saved position has no state; it was saved by another pipeline or is damaged",
        Scan::kName);
  }

  const ScanNode& node_;
  const std::unique_ptr<Iterator> input_;
  std::vector<double> state_;
};

Result<std::unique_ptr<Iterator>> ScanNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInput(this->input()));
  return std::make_unique<ScanIterator>(context, *this, std::move(input));
}

// The step of a function of recipes: adds the result for the number in field `index`.
Scan::Step StepOf(Function next, size_t index) {
  return [=](std::vector<double>& state, Element& element, Scratch& scratch) {
    const Array& number = element.arrays[index];
    double value = 0;
    CastValues(number.dtype(), number.data(), 1, DType::kFloat64,
               reinterpret_cast<std::byte*>(&value));
    Array result = scratch.NewArray(DType::kFloat64, {});
    result.values<double>()[0] = next(state, value);
    element.arrays.push_back(std::move(result));
    return OkStatus();
  };
}

}  // namespace

void Scan::Describe(OptionTable<Scan>& table) {
  table.Field("field", &Scan::field, "field of one number that is followed")
      .Field(
          "function", &Scan::function,
          "what is made of its values so far; change: this one less the one before, which of the "
          "first element is nan",
          OneOf{FunctionNames()})
      .Field("to", &Scan::to, "name of the field that is added, float64");
}

Result<Dataset> Scan::Build(Dataset input) const {
  if (step) {
    Spec spec = output.fields.empty() ? input.spec() : output;
    return Dataset(
        std::make_shared<ScanNode>(std::move(input), "a function", std::move(spec), step, initial));
  }
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  const Shape& shape = input.spec().fields[index].shape;
  if (!IsFullyKnown(shape) || NumValues(shape) != 1) {
    return InvalidArgument(
        "scan: field '{}' has shape {}; one number of each element is followed: put scan before "
        "`batch`",
        field, ShapeToString(shape));
  }
  Spec spec = input.spec();
  STOKER_RETURN_IF_ERROR(AddField(kName, {to, DType::kFloat64, {}}, spec));
  const auto named = std::ranges::find(Functions(), function, &NamedFunction::name);
  if (named == Functions().end())
    return InvalidArgument("scan: there is no function '{}'; {}", function,
                           NameAdvice(function, FunctionNames()));
  return Dataset(std::make_shared<ScanNode>(
      std::move(input), fmt::format("{} of {} to {}", function, field, to), std::move(spec),
      StepOf(named->next, index), named->initial));
}

}  // namespace stoker
