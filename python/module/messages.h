// What the engine logs, for Python's logging.
#pragma once

#include <nanobind/nanobind.h>

namespace stoker::python {

// Has messages of the engine wait here instead of being written to standard error, and adds the
// function that takes them.
void AddMessages(nanobind::module_& module);

// Has stoker.messages log what waits, if anything does. Called with the GIL, between two batches.
void TellMessages();

}  // namespace stoker::python
