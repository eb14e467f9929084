#include "stoker/data/ops/choose.h"

#include <algorithm>

#include "stoker/data/ops/choice_node_internal.h"

namespace stoker {
namespace {

// A longer pattern is a pipeline of choices.
constexpr size_t kMaxPattern = 1 << 20;

Status CheckPattern(const std::vector<int64_t>& pattern, int64_t inputs) {
  if (pattern.size() > kMaxPattern) {
    return InvalidArgument("choose: the pattern has {} numbers, at most {} are taken; use choices",
                           pattern.size(), kMaxPattern);
  }
  for (const int64_t number : pattern) {
    if (number >= 0 && number < inputs) continue;
    return InvalidArgument("choose: the pattern has {} among its numbers, but the inputs are 0..{}",
                           number, inputs - 1);
  }
  for (int64_t i = 0; i < inputs; ++i) {
    if (std::ranges::find(pattern, i) != pattern.end()) continue;
    return InvalidArgument(
        "choose: the pattern never names input {}; add it, or take the input away", i);
  }
  return OkStatus();
}

Status CheckChoices(const Spec& spec) {
  const auto is_integer = [](DType dtype) {
    return dtype == DType::kUInt8 || dtype == DType::kInt32 || dtype == DType::kInt64;
  };
  if (spec.fields.size() == 1 && spec.fields[0].shape.empty() && is_integer(spec.fields[0].dtype))
    return OkStatus();
  return InvalidArgument(
      "choose: the choices have elements {}; they must be one uint8, int32 or int64 number each",
      spec.ToString());
}

}  // namespace

void Choose::Describe(OptionTable<Choose>& table) {
  table
      .Field(
          "pattern", &Choose::pattern,
          "the numbers of the inputs, from 0, in the order in which they are taken from; repeated")
      .Field("stop", &Choose::stop, "what ends it", OneOf{{kStopTexts[0], kStopTexts[1]}});
}

template <>
const std::vector<Option>& OptionsOf<Choose>() {
  static const auto options = WithObjects<Choose>(
      {ObjectOption("inputs", &Choose::inputs, "what is chosen from", /*required=*/true),
       ObjectOption("choices", &Choose::choices,
                    "instead of a pattern: elements of one integer each, an input's number")});
  return options;
}

Result<Dataset> Choose::Build() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<Dataset> datasets, inputs.Build(kName));
  STOKER_ASSIGN_OR_RETURN(Spec spec, CommonSpec(kName, datasets));
  if (static_cast<bool>(choices) == !pattern.empty()) {
    return InvalidArgument(
        "choose: give either a pattern, such as [0, 0, 1], or choices, a pipeline of numbers");
  }
  const WhenExhausted policy = PolicyOf(stop);
  std::optional<Dataset> numbers;
  std::vector<Cardinality> lengths;
  for (const Dataset& input : datasets) lengths.push_back(input.cardinality());
  if (choices) {
    STOKER_ASSIGN_OR_RETURN(numbers, choices.Build(kName));
    STOKER_RETURN_IF_ERROR(CheckChoices(numbers->spec()));
  } else {
    STOKER_RETURN_IF_ERROR(CheckPattern(pattern, std::ssize(datasets)));
  }
  return ChoiceDataset({.name = std::string(kName),
                        .details = choices ? "by a pipeline" : "by a pattern",
                        .inputs = std::move(datasets),
                        .spec = std::move(spec),
                        .policy = policy,
                        .plan = ChoicePlan::Pattern(pattern, lengths, policy),
                        .choices = std::move(numbers)});
}

}  // namespace stoker
