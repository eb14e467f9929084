// Pictures of a batch in one PNG.
#pragma once

#include <nanobind/nanobind.h>

namespace stoker::python {

void AddPictures(nanobind::module_& module);

}  // namespace stoker::python
