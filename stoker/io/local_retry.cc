#include "stoker/io/local_retry.h"

#include <algorithm>
#include <system_error>

#include "stoker/base/log.h"
#include "stoker/base/stop_scope.h"

namespace stoker {
namespace {

constexpr double kLongestWaitSeconds = 1;
constexpr double kWarnAfterSeconds = 1;

}  // namespace

bool IsPassingTrouble(int error_number) {
  switch (error_number) {
    case EINTR:
    case EAGAIN:
    case EBUSY:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case EIO:
    case ESTALE:
    case EREMOTEIO:
    case ETIMEDOUT:
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case ENOTCONN:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH: return true;
    default: return false;
  }
}

bool LocalRetry::Again(int error_number) {
  if (error_number == EINTR) return true;
  const bool for_a_pass = StopScope::Innermost() != nullptr;
  if (!since_first_failure_) since_first_failure_.emplace();
  const double waited = since_first_failure_->ElapsedSeconds();
  if (!for_a_pass || !IsPassingTrouble(error_number) || waited >= patience_seconds_) {
    errno = error_number;
    return false;
  }
  if (!warned_ && waited >= kWarnAfterSeconds) {
    warned_ = true;
    LogWarning("{}: {}; trying again for {:.0f} s", what_,
               std::generic_category().message(error_number), patience_seconds_);
  }
  const double wait = std::min(next_wait_seconds_, patience_seconds_ - waited);
  next_wait_seconds_ = std::min(2 * next_wait_seconds_, kLongestWaitSeconds);
  if (SleepUnlessStopped(wait)) return true;
  errno = ECANCELED;
  return false;
}

}  // namespace stoker
