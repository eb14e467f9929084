// Arrays as objects of Python: DLPack, the buffer protocol, shape and dtype.
#pragma once

#include <nanobind/nanobind.h>

#include "stoker/base/array.h"

namespace stoker::python {

// Returns the same values in memory of their own.
Array CopyOf(const Array& array);

// Returns a capsule "dltensor" that shares the memory; who takes it renames it, as DLPack says.
nanobind::object CapsuleOf(const Array& array);

// Returns the array that `value`, an object with __dlpack__ on the CPU, shares its memory as.
// Throws ConfigError otherwise.
Array ArrayOf(nanobind::handle value);

// Adds the type Array to the module.
void AddArray(nanobind::module_& module);

}  // namespace stoker::python
