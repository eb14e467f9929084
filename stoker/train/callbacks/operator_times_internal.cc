#include "stoker/train/callbacks/operator_times_internal.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "stoker/base/clock.h"

namespace stoker {
namespace {

// Callbacks are plain functions, and autograd's threads for a device inherit them.
std::atomic<OperatorTimes*> active{nullptr};

// What an operator is given must be read when it begins: it is gone when it ends.
struct Began : at::ObserverContext {
  Json arguments = Json::object();
  int64_t ns = NowNs();
};

Json ShapesOf(const at::RecordFunction& function) {
  Json shapes = Json::array();
  for (const c10::IValue& input : function.inputs()) {
    if (input.isTensor() && input.toTensor().defined()) {
      shapes.push_back(input.toTensor().sizes().vec());
    }
  }
  return {{"inputs", std::move(shapes)}};
}

}  // namespace

Json TraceEvent(std::string name, int64_t began_ns, int64_t ended_ns, Json arguments) {
  constexpr double kNsToUs = 1e-3;
  return {{"name", std::move(name)},
          {"ph", "X"},
          {"pid", ::getpid()},
          {"tid", ::syscall(SYS_gettid)},
          {"ts", static_cast<double>(began_ns) * kNsToUs},
          {"dur", static_cast<double>(ended_ns - began_ns) * kNsToUs},
          {"args", std::move(arguments)}};
}

OperatorTimes::OperatorTimes(bool shapes) : shapes_(shapes) {
  OperatorTimes* nobody = nullptr;
  TORCH_CHECK(active.compare_exchange_strong(nobody, this), "two profiles at a time");
  handle_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(Started, Ended)
          .needsInputs(shapes)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

OperatorTimes::~OperatorTimes() {
  at::removeCallback(handle_);
  active = nullptr;
}

std::vector<Json> OperatorTimes::Take() {
  const MutexLock lock(mutex_);
  return std::exchange(events_, {});
}

std::unique_ptr<at::ObserverContext> OperatorTimes::Started(const at::RecordFunction& function) {
  auto began = std::make_unique<Began>();
  if (active.load()->shapes_) began->arguments = ShapesOf(function);
  began->ns = NowNs();
  return began;
}

void OperatorTimes::Ended(const at::RecordFunction& function, at::ObserverContext* context) {
  OperatorTimes* times = active.load();
  const int64_t now = NowNs();
  auto* const began = static_cast<Began*>(context);
  Json event = TraceEvent(function.name(), began->ns, now, std::move(began->arguments));
  const MutexLock lock(times->mutex_);
  times->events_.push_back(std::move(event));
}

}  // namespace stoker
