#include "python/module/errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "stoker/base/problems.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// The name of a code as Python has it: "data_loss".
std::string CodeText(StatusCode code) {
  std::string text(StatusCodeName(code));
  for (char& c : text) {
    if (c == ' ') c = '_';
  }
  return text;
}

// A line for each error that the Status holds.
std::string Lines(const Status& status) {
  std::string lines;
  for (const std::string& each : ProblemsIn(status)) lines += (lines.empty() ? "" : "\n") + each;
  return lines;
}

// A message may quote bytes of a file, which need not be text.
nb::object MessageText(const std::string& message) {
  return nb::steal<nb::object>(
      PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
}

}  // namespace

void TranslateErrors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const StatusError& error) {
      try {
        const nb::object made = nb::module_::import_("stoker.errors")
                                    .attr("from_status")(CodeText(error.status().code()),
                                                         MessageText(Lines(error.status())));
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
      } catch (nb::python_error& other) {
        other.restore();
      }
    }
  });
}

}  // namespace stoker::python
