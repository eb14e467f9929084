#include "python/module/user_code.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "python/module/array.h"
#include "stoker/base/stop_scope.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

thread_local UserCode* building = nullptr;
thread_local bool here = false;

}  // namespace

// --- WorkerPool

WorkerPool::Lease::Lease(WorkerPool* pool, std::unique_ptr<WorkerChannel> channel)
    : pool_(pool), channel_(std::move(channel)) {}

WorkerPool::Lease::~Lease() {
  if (!channel_) return;
  const MutexLock lock(pool_->mutex_);
  if (channel_->broken()) {
    --pool_->size_;
  } else {
    pool_->idle_.push_back(std::move(channel_));
  }
  pool_->changed_.NotifyAll();
}

void WorkerPool::Add(std::unique_ptr<WorkerChannel> channel) {
  const MutexLock lock(mutex_);
  idle_.push_back(std::move(channel));
  ++size_;
  had_some_ = true;
  changed_.NotifyAll();
}

Result<WorkerPool::Lease> WorkerPool::Take() {
  const MutexLock lock(mutex_);
  const auto ready = [this]() STOKER_REQUIRES(mutex_) { return !idle_.empty() || size_ == 0; };
  if (!WaitUnlessStopped(changed_, mutex_, ready))
    return Cancelled("a function of Python: asked to stop");
  if (idle_.empty() && !had_some_) {
    return Unimplemented(
        "functions of Python cannot be called before a pass is open, and a stage reads its input "
        "while the pipeline is put together, such as unique, or split by a field; put the function "
        "after that stage");
  }
  if (idle_.empty()) {
    return FailedPrecondition(
        "the worker processes that call the functions of the pipeline have ended; iterate over "
        "the loader again, which starts new ones");
  }
  // The one used last, whose memory is in the caches; not one that a pass before left at work, if
  // there is another.
  auto taken = std::prev(idle_.end());
  while (taken != idle_.begin() && (*taken)->busy()) --taken;
  if ((*taken)->busy()) taken = std::prev(idle_.end());
  std::unique_ptr<WorkerChannel> channel = std::move(*taken);
  idle_.erase(taken);
  return Lease(this, std::move(channel));
}

void WorkerPool::Shrink(size_t most) {
  const MutexLock lock(mutex_);
  while (size_ > most && !idle_.empty()) {
    idle_.erase(idle_.begin());
    --size_;
  }
}

size_t WorkerPool::size() const {
  const MutexLock lock(mutex_);
  return size_;
}

// --- UserCode

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

// --- Calls in this process

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
