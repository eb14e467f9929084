#include "python/module/messages.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "stoker/base/log.h"
#include "stoker/base/mutex.h"
#include "stoker/base/per_process.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

using Message = std::tuple<int, std::string>;  // level as logging counts, text

constexpr size_t kMostWaiting = 1000;

// Threads of the engine log while they hold locks of theirs, so they must not wait for the GIL: a
// thread of Python takes the messages.
class WaitingMessages {
 public:
  void Add(LogLevel level, std::string_view text) {
    const MutexLock lock(mutex_);
    if (waiting_.size() < kMostWaiting) waiting_.emplace_back(LevelOf(level), text);
    any_ = true;
  }
  bool any() const { return any_; }
  std::vector<Message> Take() {
    const MutexLock lock(mutex_);
    any_ = false;
    return std::exchange(waiting_, {});
  }

 private:
  static int LevelOf(LogLevel level) { return 10 * (static_cast<int>(level) + 1); }

  std::atomic<bool> any_{false};
  Mutex mutex_;
  std::vector<Message> waiting_ STOKER_GUARDED_BY(mutex_);
};

WaitingMessages& Waiting() {
  static PerProcess<WaitingMessages> waiting;
  return waiting.Get();
}

}  // namespace

void TellMessages() {
  if (Waiting().any()) nb::module_::import_("stoker.messages").attr("tell")();
}

void AddMessages(nb::module_& module) {
  SetLogSink([](LogLevel level, std::string_view text) { Waiting().Add(level, text); });
  module.def(
      "take_messages", [] { return Waiting().Take(); },
      "Messages of the engine since the last call: level, text.");
}

}  // namespace stoker::python
