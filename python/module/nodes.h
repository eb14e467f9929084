// Entries of recipes (ConfigNode) made of Python values, and back.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "stoker/base/config.h"

namespace stoker::python {

// Returns a value of Python as one of a recipe: None, bool, int, float, str, paths, mappings,
// sequences, what has `tolist` (arrays and scalars of NumPy and PyTorch), and pipelines, which hold
// their entries as `_nodes`.
//   where  the Python line that errors about the value name: "train.py:12"
// Throws ConfigError for any other type, and for a value that holds itself.
ConfigNode NodeOf(nanobind::handle value, const ConfigLocation& where);

// A place that has no column: a line of a Python program.
ConfigLocation PlaceOf(const std::string& where);

// Adds the type Node and the functions about recipes to the module.
void AddNodes(nanobind::module_& module);

}  // namespace stoker::python
