#include "stoker/tools/doctor/stop_timer.h"

#include <chrono>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/tools/program/interrupt.h"

namespace stoker {
namespace {

constexpr auto kTick = std::chrono::milliseconds(20);

}  // namespace

Status StopTimer::Start() {
  STOKER_ASSIGN_OR_RETURN(thread_, WorkerGroup::Start(1, "stop-timer", [this](int) { Run(); }));
  return OkStatus();
}

StopTimer::~StopTimer() {
  ending_ = true;
  thread_.Join();
}

void StopTimer::Set(double seconds) {
  const MutexLock lock(mutex_);
  deadline_ns_ = NowNs() + static_cast<int64_t>(seconds * 1e9);
  stop_ = Interrupted().load();
}

void StopTimer::Run() {
  while (!ending_) {
    {
      const MutexLock lock(mutex_);
      if (Interrupted() || NowNs() >= deadline_ns_) stop_ = true;
    }
    std::this_thread::sleep_for(kTick);
  }
}

}  // namespace stoker
