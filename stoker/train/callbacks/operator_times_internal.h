// Records the times of torch's operators as events of a Chrome trace.
#pragma once

#include <ATen/record_function.h>

#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/mutex.h"

namespace stoker {

// Returns one complete event ("ph": "X") of the calling thread; times by NowNs.
Json TraceEvent(std::string name, int64_t began_ns, int64_t ended_ns,
                Json arguments = Json::object());

// Records the operators that the constructing thread runs, and autograd for it, while it lives. One
// in a process at a time.
class OperatorTimes {
 public:
  explicit OperatorTimes(bool shapes);
  OperatorTimes(const OperatorTimes&) = delete;
  OperatorTimes& operator=(const OperatorTimes&) = delete;
  ~OperatorTimes();

  // Returns the events since the last call.
  std::vector<Json> Take();

 private:
  static std::unique_ptr<at::ObserverContext> Started(const at::RecordFunction& function);
  static void Ended(const at::RecordFunction& function, at::ObserverContext* context);

  const bool shapes_;
  at::CallbackHandle handle_;
  Mutex mutex_;  // autograd uses its own threads for a device
  std::vector<Json> events_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
