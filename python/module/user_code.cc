#include "python/module/user_code.h"

#include <utility>

namespace nb = nanobind;

namespace stoker::python {
namespace {

thread_local UserCode* building = nullptr;
thread_local bool here = false;

}  // namespace

UserCode::~UserCode() {
  if (functions_.empty() || Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire gil;
  Forget();
}

UserCode::Building::Building(UserCode& code) : before_(std::exchange(building, &code)) {}
UserCode::Building::~Building() { building = before_; }

Result<std::shared_ptr<UserCode>> UserCode::OfThisThread() {
  if (building == nullptr) {
    return Unimplemented(
        "functions of Python cannot be called in pipelines that are opened while another is read, "
        "such as those of interleave; put the function after it");
  }
  return building->shared_from_this();
}

UserCode::CallsHere::CallsHere(bool calls) : before_(std::exchange(here, calls)) {}
UserCode::CallsHere::~CallsHere() { here = before_; }
bool UserCode::calls_here() { return here; }

uint32_t UserCode::Add(nb::object bound) {
  functions_.push_back(std::move(bound));
  return static_cast<uint32_t>(functions_.size() - 1);
}

}  // namespace stoker::python
