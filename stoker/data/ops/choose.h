#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/options/pipelines.h"

namespace stoker {

// Takes each element from one of several pipelines. `pattern` (inputs' numbers, repeated; [0, 0,
// 1]: two of the first, one of the second) or `choices` (a pipeline of such numbers, with which the
// output ends) says from which. Each input's elements come in their order; fields must agree in
// name, dtype and number of dimensions.
//
// `stop` says what else ends it: first_exhausted, a chosen input that has ended; all_exhausted, the
// end of the last input, with ended ones skipped.
//
// With a pattern it is by position if all inputs are; the state is then one number. In order each
// input is open all the time, and resuming costs as much as for them and the choices.
struct Choose {
  static constexpr std::string_view kName = "choose";
  static constexpr std::string_view kHelp =
      "Elements of several pipelines, each from the input that a pattern or a pipeline of numbers "
      "names.";
  Pipelines inputs;
  OptionalPipeline choices;
  std::vector<int64_t> pattern;
  std::string stop = "first_exhausted";

  static void Describe(OptionTable<Choose>& table);
  Result<Dataset> Build() const;
};

template <>
const std::vector<Option>& OptionsOf<Choose>();

}  // namespace stoker
