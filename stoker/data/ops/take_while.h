#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps the elements of each epoch up to the first that does not meet the conditions, which are
// those of `filter`; that one and all that follow are left out.
//
//   - take_while: {field: day, max: 365}
//
// In C++ the condition may be any function, as of Filter. It is asked about elements that follow
// the first too, because threads read ahead. Read in order, and the number of elements is not known
// beforehand. Resuming costs as much as for the input.
struct TakeWhile {
  static constexpr std::string_view kName = "take_while";
  static constexpr std::string_view kHelp =
      "Keeps the elements of each epoch up to the first whose field does not meet the conditions.";
  static constexpr bool kArranges = true;
  std::string field = "label";
  std::vector<double> equals;
  std::vector<double> except;
  std::optional<double> min;
  std::optional<double> max;

  std::function<Result<bool>(const Element& element)> predicate;  // only in C++; may be empty

  static void Describe(OptionTable<TakeWhile>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
