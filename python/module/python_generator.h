// A source that a generator of the user's Python makes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "python/module/spec_option.h"
#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker::python {

// Elements that a function of Python yields, in order. Each pass has a worker process of its own
// that iterates (UserCode), one message ahead of the pass. Restoring a position makes the elements
// before it again.
struct PythonGenerator {
  static constexpr std::string_view kName = "python_generator";
  static constexpr std::string_view kHelp = "Elements that a generator of Python yields.";
  std::string function;
  std::vector<std::string> fields;
  SpecOption spec;

  static void Describe(OptionTable<PythonGenerator>& table);
  Result<Dataset> Build() const;
};

}  // namespace stoker::python

template <>
const std::vector<stoker::Option>& stoker::OptionsOf<stoker::python::PythonGenerator>();
