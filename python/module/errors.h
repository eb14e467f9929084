// Errors of the engine as exceptions of Python.
#pragma once

#include <exception>
#include <utility>

#include "stoker/base/status.h"

namespace stoker::python {

// Carries a Status to where nanobind turns C++ exceptions into those of Python.
class StatusError : public std::exception {
 public:
  explicit StatusError(Status status) : status_(std::move(status)) {}
  const Status& status() const { return status_; }
  const char* what() const noexcept override { return status_.message().c_str(); }

 private:
  Status status_;
};

// Throws unless `status` is ok.
inline void Check(const Status& status) {
  if (!status.ok()) throw StatusError(status);
}

// Returns the value, or throws the error.
template <typename T>
T Take(Result<T> result) {
  if (!result.ok()) throw StatusError(result.status());
  return *std::move(result);
}

// Has StatusError become the exception that stoker.errors.from_status makes of its code and
// message.
void TranslateErrors();

}  // namespace stoker::python
