// One call of a function of Python: what it gets, what it gives, and its errors.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "python/module/worker_channel.h"
#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/data/core/transform.h"

namespace stoker::python {

// Calls a method of a bound function in this process. Takes the GIL for as long.
//   call  gets the object, and returns what `result` then reads
// Errors: kOutOfRange where the function raised an exception, kInvalidArgument where its result is
// wrong; kCancelled for KeyboardInterrupt and SystemExit, which stay this thread's exception.
Status CallHere(const std::function<void()>& call);

// The error of an outcome; success for kDone and kEnded.
Status StatusOf(WorkerAnswer::Outcome outcome, const std::string& text);

// The arrays as a list of objects that a function may keep and write to. With the GIL.
nanobind::list ArgumentsOf(std::span<const Array> arrays);

// Arrays of what a bound function returns: a list of (dtype, shape, bytes). With the GIL.
std::vector<WorkerArray> ResultsOf(nanobind::handle results);

// Copies into memory of the stage.
Array CopiedTo(const WorkerArray& array, Scratch& scratch);

}  // namespace stoker::python
