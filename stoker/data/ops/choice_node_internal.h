// The dataset of mix and choose: each element comes from one of several inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/ops/choice_plan_internal.h"

namespace stoker {

struct Choice {
  std::string name;  // the operator
  std::string details;
  std::vector<Dataset> inputs;  // with equal fields (CommonSpec)
  Spec spec;
  WhenExhausted policy;
  ChoicePlan plan;
  // Instead of the plan: a dataset whose elements are one integer each, an input's number.
  std::optional<Dataset> choices;
};

// By position if the inputs are and the choices follow a plan. In order the state is the number of
// the choice, and the state of every input and whether it has ended.
Dataset ChoiceDataset(Choice choice);

// The texts of the option `stop`, in the order of WhenExhausted.
inline constexpr const char* kStopTexts[] = {"first_exhausted", "all_exhausted", "repeat"};
WhenExhausted PolicyOf(const std::string& stop);

}  // namespace stoker
