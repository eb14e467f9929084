// Operators that call a function of the user's Python for each element.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "python/module/spec_option.h"
#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker::python {

// Calls a function of {field: array}, which returns the same of the element that takes its place.
// Threads of the engine hand elements to worker processes (UserCode) and wait; many small elements
// of equal shapes go at once.
//
// `function` is a name that stoker.functions.naming knows. Without `spec` the function is called
// for the first elements while the pipeline is built, in this process.
struct PythonMap {
  static constexpr std::string_view kName = "python_map";
  static constexpr std::string_view kHelp = "Calls a function of Python for each element.";
  static constexpr bool kArranges = false;
  std::string function;
  std::string field;
  std::vector<std::string> fields;
  std::string to = "numpy";
  bool random = true;
  SpecOption spec;

  static void Describe(OptionTable<PythonMap>& table);
  Result<Dataset> Build(Dataset input) const;
};

// Keeps the elements for which a function of Python returns something true.
struct PythonFilter {
  static constexpr std::string_view kName = "python_filter";
  static constexpr std::string_view kHelp =
      "Keeps the elements for which a function of Python returns something true.";
  static constexpr bool kArranges = false;
  std::string function;
  std::string field;
  std::string to = "numpy";

  static void Describe(OptionTable<PythonFilter>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker::python

template <>
const std::vector<stoker::Option>& stoker::OptionsOf<stoker::python::PythonMap>();
