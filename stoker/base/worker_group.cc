#include "stoker/base/worker_group.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <utility>

#include "stoker/base/control_group.h"
#include "stoker/base/denormals.h"

namespace stoker {
namespace {

// Blocks SIGINT and SIGTERM in this thread for its scope; threads started meanwhile inherit that
// from their first instruction on.
class InterruptsBlocked {
 public:
  InterruptsBlocked() {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  InterruptsBlocked(const InterruptsBlocked&) = delete;
  InterruptsBlocked& operator=(const InterruptsBlocked&) = delete;
  ~InterruptsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

constexpr size_t kMaxThreadName = 15;  // the kernel's limit

std::string ThreadName(std::string_view name, int worker) {
  const std::string number = std::to_string(worker);
  return std::string(name.substr(0, kMaxThreadName - std::min(kMaxThreadName, number.size()))) +
         number;
}

// Until all threads are there, those that are wait at this gate: were the body begun at once, only
// its owner could make it return, and the owner is still waiting for its WorkerGroup.
struct Gate {
  enum State { kClosed, kOpen, kCancelled };
  std::atomic<State> state{kClosed};

  void Set(State to) {
    state = to;
    state.notify_all();
  }
  bool Pass() const {
    state.wait(kClosed);
    return state == kOpen;
  }
};

}  // namespace

Result<WorkerGroup> WorkerGroup::Start(int count, std::string_view name,
                                       std::function<void(int worker)> body) {
  const InterruptsBlocked blocked;
  const auto shared_body = std::make_shared<const std::function<void(int)>>(std::move(body));
  const auto gate = std::make_shared<Gate>();
  WorkerGroup group;
  try {
    group.threads_.reserve(static_cast<size_t>(count));
    for (int worker = 0; worker < count; ++worker) {
      group.threads_.emplace_back(
          [shared_body, gate, worker, thread_name = ThreadName(name, worker)] {
            pthread_setname_np(pthread_self(), thread_name.c_str());
            // A thread inherits its starter's mode, and what the group computes must not depend on
            // who starts it.
            SetFloatMode(WithDenormalsFlushed(FloatMode(), /*flushed=*/false));
            if (gate->Pass()) (*shared_body)(worker);
          });
    }
  } catch (const std::exception& error) {  // std::system_error, or no memory for its arguments
    const size_t started = group.threads_.size();
    gate->Set(Gate::kCancelled);
    group.Join();
    return ResourceExhausted(
        "{}: thread {} of {} cannot be started: {}; use fewer threads, or raise the limit on them "
        "(ulimit -u, the container's limit of processes)",
        name, started + 1, count, error.what());
  }
  gate->Set(Gate::kOpen);
  return group;
}

void WorkerGroup::Join() {
  for (std::jthread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

int AvailableCpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // The call fails only where the machine has more CPUs than the mask has bits (1024).
  const int allowed = sched_getaffinity(0, sizeof(mask), &mask) == 0
                          ? CPU_COUNT(&mask)
                          : static_cast<int>(std::thread::hardware_concurrency());
  return CpusUnder(allowed, ReadControlGroupLimits().cpus);
}

}  // namespace stoker
