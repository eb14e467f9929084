#pragma once

#include <functional>
#include <memory>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// Keeps the elements that meet a condition, in their order and with their keys. In a recipe the
// conditions are on a field of one number, and all given ones must hold:
//
//   - filter: {field: label, equals: [3, 5]}
//
// In C++ the condition may be any function, in addition or instead:
//
//   ... | Filter{.predicate = [](const Element& element) { return Brightness(element) > 0.1; }}
//
// The function is called from several threads at once and must be pure. It may return Result<bool>;
// an error or an exception ends the pass and names the element.
//
// The number of elements left is not known beforehand, so later stages are read in order. Reports
// list the condition as a separate stage, `filter_condition`. Resuming costs as much as for the
// input.
//
// Numbers are compared as doubles, so integers beyond 2^53 are rounded. NaN equals nothing and
// satisfies no bound.
struct Filter {
  static constexpr std::string_view kName = "filter";
  static constexpr std::string_view kHelp =
      "Keeps the elements whose field meets all conditions given.";
  static constexpr bool kArranges = false;
  std::string field = "label";
  std::vector<double> equals;
  std::vector<double> except;
  std::optional<double> min;
  std::optional<double> max;

  std::function<Result<bool>(const Element& element)> predicate;  // only in C++; may be empty

  static void Describe(OptionTable<Filter>& table);
  Result<Dataset> Build(Dataset input) const;
};

// Keeps the elements to which `answers` adds true. It is a Transform that adds one field as the
// last, bool[], and sees many elements at once where it overrides ApplyRows. Reports list it as
// `filter_condition`, described by `details`.
Dataset FilterByTransform(Dataset input, std::string details,
                          std::shared_ptr<const Transform> answers);

}  // namespace stoker
