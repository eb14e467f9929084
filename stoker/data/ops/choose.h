#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/options/pipelines.h"

namespace stoker {

// Several pipelines, and who says from which the next element comes: `pattern`, inputs' numbers
// that are repeated ([0, 0, 1]: two of the first, one of the second), or `choices`, a pipeline
// whose elements are one integer each, such a number; it ends with the choices. Each input's
// elements come in their order; fields must agree in name, dtype and number of dimensions.
//
// `stop` says what else ends it: first_exhausted, an input that is chosen and has ended;
// all_exhausted, the last one, those that have ended being passed over.
//
// With a pattern it is by position where all inputs are; the state is then one number. In order
// each input is open all the time, and resuming costs what it costs them and the choices.
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
