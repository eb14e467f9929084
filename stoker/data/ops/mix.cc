#include "stoker/data/ops/mix.h"

#include <algorithm>
#include <iterator>

#include "stoker/data/ops/choice_node_internal.h"
#include "stoker/data/ops/repeat.h"

namespace stoker {
namespace {

std::vector<Cardinality> LengthsOf(const std::vector<Dataset>& inputs) {
  std::vector<Cardinality> lengths;
  for (const Dataset& input : inputs) lengths.push_back(input.cardinality());
  return lengths;
}

// Inputs of which the plan takes more than they have, repeated as often as that needs.
Result<std::vector<Dataset>> Repeated(std::vector<Dataset> inputs, const ChoicePlan& plan) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Cardinality n = inputs[i].cardinality();
    if (!n.known() || n.value() == 0) continue;
    const bool endless = plan.length().infinite();
    const int64_t rounds = endless ? 0 : (plan.TakenOf(i) + n.value() - 1) / n.value();
    if (!endless && rounds <= 1) continue;
    STOKER_ASSIGN_OR_RETURN(inputs[i], Repeat{.count = rounds}.Build(inputs[i]));
  }
  return inputs;
}

}  // namespace

void Mix::Describe(OptionTable<Mix>& table) {
  table
      .Field("weights", &Mix::weights,
             "one for each input; only their ratios count; none: all are equal", MoreThan(0))
      .Field("stop", &Mix::stop, "what ends the mixture",
             OneOf{{std::begin(kStopTexts), std::end(kStopTexts)}});
}

template <>
const std::vector<Option>& OptionsOf<Mix>() {
  static const auto options =
      WithObjects<Mix>({ObjectOption("inputs", &Mix::inputs, "what is mixed", /*required=*/true)});
  return options;
}

Result<Dataset> Mix::Build() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<Dataset> datasets, inputs.Build(kName));
  STOKER_ASSIGN_OR_RETURN(Spec spec, CommonSpec(kName, datasets));
  if (!weights.empty() && weights.size() != datasets.size()) {
    return InvalidArgument("mix: {} weights for {} inputs; give one for each", weights.size(),
                           datasets.size());
  }
  const std::vector<double> each =
      weights.empty() ? std::vector<double>(datasets.size(), 1.0) : weights;
  const WhenExhausted policy = PolicyOf(stop);
  const std::vector<Cardinality> lengths = LengthsOf(datasets);
  ChoicePlan plan = ChoicePlan::Weighted(each, lengths, policy);
  const bool known = std::ranges::find(lengths, Cardinality::Unknown()) == lengths.end();
  if (policy == WhenExhausted::kRepeat && known) {
    STOKER_ASSIGN_OR_RETURN(datasets, Repeated(std::move(datasets), plan));
  }
  return ChoiceDataset({.name = std::string(kName),
                        .details = fmt::format("weights {}, {}", fmt::join(each, ":"), stop),
                        .inputs = std::move(datasets),
                        .spec = std::move(spec),
                        .policy = policy,
                        .plan = std::move(plan),
                        .choices = std::nullopt});
}

}  // namespace stoker
