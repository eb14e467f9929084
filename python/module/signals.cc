#include "python/module/signals.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace stoker::python {
namespace {

// Half of it is what Ctrl-C takes on average; each look takes the GIL for a moment.
constexpr std::chrono::milliseconds kLookEvery{20};

}  // namespace

SignalScope::SignalScope() : scope_([this] { return Ask(); }, kLookEvery) {}

// Threads that work on behalf of this one ask too; they run no handlers.
bool SignalScope::Ask() {
  if (std::this_thread::get_id() != thread_ || raised_) return raised_;
  const nb::gil_scoped_acquire gil;
  raised_ = PyErr_CheckSignals() != 0;
  return raised_;
}

}  // namespace stoker::python
