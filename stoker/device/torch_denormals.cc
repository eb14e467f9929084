#include "stoker/device/torch_denormals.h"

#include "stoker/base/denormals.h"
#include "stoker/device/torch_threads.h"

namespace stoker {

// The caller's mode comes first: a worker that the parallel region starts inherits it.
void FlushTorchDenormals(bool flushed) {
  const auto set = [flushed] { SetFloatMode(WithDenormalsFlushed(FloatMode(), flushed)); };
  set();
  OnEachTorchThread(set);
}

TorchFloatModes::TorchFloatModes() : callers_(FloatMode()) {
  OnEachTorchThread([this] {
    const MutexLock lock(mutex_);
    before_[std::this_thread::get_id()] = FloatMode();
  });
}

TorchFloatModes::~TorchFloatModes() {
  SetFloatMode(callers_);
  OnEachTorchThread([this] {
    const MutexLock lock(mutex_);
    const auto found = before_.find(std::this_thread::get_id());
    SetFloatMode(found == before_.end() ? callers_ : found->second);
  });
}

}  // namespace stoker
