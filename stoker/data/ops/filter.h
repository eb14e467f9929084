#pragma once

#include <functional>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps the elements that meet a condition, in their order and with their keys. In a recipe the
// condition is on a field of one number, and all that are given must hold:
//
//   - filter: {field: label, equals: [3, 5]}
//
// In C++ it may be any function, beside them or instead:
//
//   ... | Filter{.predicate = [](const Element& element) { return Brightness(element) > 0.1; }}
//
// The function is called from several threads at once and must be pure: the same element, the same
// answer. It may return Result<bool>; an error or an exception ends the pass and names the element.
//
// How many elements are left is not known beforehand, so what follows is read in order. The work is
// still done on all threads: the condition is a stage of its own (`filter_condition` in reports)
// that reads ahead of the one that drops elements. Resuming costs what the input's costs.
//
// Numbers are compared as doubles, so integers beyond 2^53 are rounded. NaN equals nothing and
// meets no bound.
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

  std::function<Result<bool>(const Element& element)> predicate;  // C++ alone; may be empty

  static void Describe(OptionTable<Filter>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
