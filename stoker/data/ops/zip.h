#pragma once

#include "stoker/data/options/pipelines.h"

namespace stoker {

// Combines several pipelines: element i has the fields of element i of each, in their order, and
// the key of the first input's. Ends with the shortest input; with `strict`, inputs of different
// lengths are an error, when the pipeline is built if the lengths are known, else at the end of the
// shortest.
//
// Field names must differ; `prefix` adds a prefix to each input's fields. By position if all inputs
// are; then nothing is copied and the state is one number. In order the state is that of every
// input, and resuming costs as much as for them.
struct Zip {
  static constexpr std::string_view kName = "zip";
  static constexpr std::string_view kHelp =
      "Several pipelines side by side: each element has the fields of one element of every input.";
  Pipelines inputs;
  std::vector<std::string> prefix;
  bool strict = false;

  static void Describe(OptionTable<Zip>& table);
  Result<Dataset> Build() const;
};

template <>
const std::vector<Option>& OptionsOf<Zip>();

}  // namespace stoker
