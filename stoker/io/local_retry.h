// Retries of system calls after transient trouble of this machine: too many open files, no memory
// for a mapping, a network file system that does not answer. Such trouble says nothing about the
// file, so it becomes an error only after retries for a while.
#pragma once

#include <cerrno>
#include <optional>
#include <string_view>

#include "stoker/base/clock.h"

namespace stoker {

// Returns whether a system call that failed with this errno may succeed a little later, with the
// same file: EMFILE, ENFILE, ENOMEM, EAGAIN, EIO, ESTALE, ETIMEDOUT and similar, EINTR included.
bool IsPassingTrouble(int error_number);

// The attempts of one system call. One thread at a time.
class LocalRetry {
 public:
  static constexpr double kPatienceSeconds = 20;

  // `what` is the file, for the warning about a long wait; it must live as long as this object.
  explicit LocalRetry(std::string_view what, double patience_seconds = kPatienceSeconds)
      : what_(what), patience_seconds_(patience_seconds) {}

  // Returns whether to repeat the call that failed with `error_number`: after EINTR always and at
  // once; after other transient trouble only on a thread that works for a pass (one with a
  // StopScope), after a wait of at most a second, until the patience is used up. If false, errno is
  // `error_number`, or ECANCELED if the pass was asked to stop, which ends the wait within a tenth
  // of a second.
  bool Again(int error_number);

 private:
  const std::string_view what_;
  const double patience_seconds_;
  std::optional<Stopwatch> since_first_failure_;
  double next_wait_seconds_ = 0.01;
  bool warned_ = false;
};

// Calls `call`, which makes one system call and returns its result, until that is not negative or
// LocalRetry gives up. Afterwards errno is that of the last failure.
template <typename Call>
auto RetryPassingTrouble(std::string_view what, const Call& call) -> decltype(call()) {
  LocalRetry retry(what);
  while (true) {
    const auto result = call();
    if (result >= 0 || !retry.Again(errno)) return result;
  }
}

}  // namespace stoker
