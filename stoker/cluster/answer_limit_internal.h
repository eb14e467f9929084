// A limit on how long this process waits for the store of the ranks to answer.
#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/cluster/open_sockets_internal.h"

namespace stoker {

// c10d's client of the store reads without a limit where the process that keeps the store does not
// run (SIGSTOP, a machine that hangs): the system takes its connections and nobody answers. From
// `until` on this shuts the connections, again and again, since c10d may open another; the read
// then throws. Calls `sockets`, on a thread of its own, for those that are open then.
class AnswerLimit {
 public:
  AnswerLimit(std::chrono::steady_clock::time_point until, std::function<SocketList()> sockets)
      : thread_([this, until, sockets = std::move(sockets)] { Watch(until, sockets); }) {}
  AnswerLimit(const AnswerLimit&) = delete;
  AnswerLimit& operator=(const AnswerLimit&) = delete;
  ~AnswerLimit() {
    {
      const MutexLock lock(mutex_);
      over_ = true;
    }
    changed_.NotifyAll();
  }

  // Whether connections were shut.
  bool passed() const {
    const MutexLock lock(mutex_);
    return passed_;
  }

 private:
  void Watch(std::chrono::steady_clock::time_point until,
             const std::function<SocketList()>& sockets) {
    constexpr std::chrono::milliseconds kAgainAfter{200};
    const MutexLock lock(mutex_);
    while (!over_) {
      if (std::chrono::steady_clock::now() < until) {
        changed_.WaitUntil(mutex_, until);
        continue;
      }
      passed_ = true;
      ShutDown(sockets());
      changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kAgainAfter);
    }
  }

  mutable Mutex mutex_;
  CondVar changed_;
  bool over_ STOKER_GUARDED_BY(mutex_) = false, passed_ STOKER_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // the last, so that the others are there for it
};

}  // namespace stoker
