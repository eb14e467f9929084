#include "python/module/python_call.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <utility>

#include "python/module/array.h"

namespace nb = nanobind;

namespace stoker::python {

Status CallHere(const std::function<void()>& call) {
  const nb::gil_scoped_acquire gil;
  try {
    call();
    return OkStatus();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) {
      error.restore();
      return Cancelled("a function of Python: asked to stop");
    }
    const nb::handle value = error.value();
    if (!nb::hasattr(value, "outcome")) return Internal("{}", error.what());
    const auto outcome =
        static_cast<WorkerAnswer::Outcome>(nb::cast<uint32_t>(value.attr("outcome")));
    const auto text = nb::cast<std::string>(nb::str(value));
    return StatusOf(outcome, text);
  } catch (const std::exception& error) {  // a result of another type than the module expects
    return Internal("a function of Python: {}", error.what());
  }
}

Status StatusOf(WorkerAnswer::Outcome outcome, const std::string& text) {
  switch (outcome) {
    case WorkerAnswer::Outcome::kDone:
    case WorkerAnswer::Outcome::kEnded: return OkStatus();
    case WorkerAnswer::Outcome::kRaised: return OutOfRange("{}", text);
    case WorkerAnswer::Outcome::kWrong: return InvalidArgument("{}", text);
    case WorkerAnswer::Outcome::kTrouble: return ResourceExhausted("{}", text);
    case WorkerAnswer::Outcome::kAway: return Unavailable("{}", text);
    case WorkerAnswer::Outcome::kDenied: return PermissionDenied("{}", text);
  }
  return Internal("{}", text);
}

nb::list ArgumentsOf(std::span<const Array> arrays) {
  nb::list arguments;
  for (const Array& array : arrays) arguments.append(nb::cast(CopyOf(array)));
  return arguments;
}

std::vector<WorkerArray> ResultsOf(nb::handle results) {
  std::vector<WorkerArray> arrays;
  for (const nb::handle result : nb::borrow<nb::iterable>(results)) {
    const auto dtype = static_cast<DType>(nb::cast<uint32_t>(result[0]));
    auto shape = nb::cast<Shape>(result[1]);
    Py_buffer bytes;
    if (PyObject_GetBuffer(nb::object(result[2]).ptr(), &bytes, PyBUF_SIMPLE) != 0)
      throw nb::python_error();
    // The results hold the memory.
    arrays.push_back({dtype, std::move(shape), static_cast<const std::byte*>(bytes.buf)});
    PyBuffer_Release(&bytes);
  }
  return arrays;
}

Array CopiedTo(const WorkerArray& array, Scratch& scratch) {
  Array copy = scratch.NewArray(array.dtype, array.shape);
  if (copy.num_bytes() > 0) std::memcpy(copy.data(), array.data, copy.num_bytes());
  return copy;
}

}  // namespace stoker::python
