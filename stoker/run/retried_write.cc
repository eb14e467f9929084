#include "stoker/run/retried_write.h"

#include "stoker/base/log.h"
#include "stoker/base/stop_scope.h"

namespace stoker {

Status WriteWithRetries(std::string_view what, const std::function<Status()>& write) {
  Status written = write();
  for (const double wait : {0.2, 0.5}) {
    const bool may_pass = written.code() == StatusCode::kUnavailable ||
                          written.code() == StatusCode::kResourceExhausted;
    if (!may_pass || !SleepUnlessStopped(wait)) break;
    LogWarning("{}; {} is written once more", written.message(), what);
    written = write();
  }
  return written;
}

}  // namespace stoker
