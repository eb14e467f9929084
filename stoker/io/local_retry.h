// Trouble of this machine that may pass: too many open files, no memory for a mapping, a file
// system over a network that does not answer. It says nothing about the file, so the system call
// that met it is tried again for a while before it becomes an error.
#pragma once

#include <cerrno>
#include <optional>
#include <string_view>

#include "stoker/base/clock.h"

namespace stoker {

// Whether a system call that failed with this errno may succeed a little later, with the same file:
// EMFILE, ENFILE, ENOMEM, EAGAIN, EIO, ESTALE, ETIMEDOUT and their like. EINTR is one too.
bool IsPassingTrouble(int error_number);

// The tries of one system call. One thread at a time.
class LocalRetry {
 public:
  static constexpr double kPatienceSeconds = 20;

  // `what` is the file, for the warning about a long wait; it must live as long as this object.
  explicit LocalRetry(std::string_view what, double patience_seconds = kPatienceSeconds)
      : what_(what), patience_seconds_(patience_seconds) {}

  // Whether the call that failed with `error_number` is to be made again. After EINTR always and at
  // once. After other passing trouble only on a thread that works for a pass (one with a
  // StopScope): waits first, at most a second, and says no once the patience is used up. Where it
  // says no, errno is `error_number`, or ECANCELED where the pass was asked to stop meanwhile: the
  // wait ends within a tenth of a second then.
  bool Again(int error_number);

 private:
  const std::string_view what_;
  const double patience_seconds_;
  std::optional<Stopwatch> since_first_failure_;
  double next_wait_seconds_ = 0.01;
  bool warned_ = false;
};

// Calls `call`, which makes one system call and gives what it returns, until that is not negative
// or LocalRetry gives up. Afterwards errno is that of the last failure.
template <typename Call>
auto RetryPassingTrouble(std::string_view what, const Call& call) -> decltype(call()) {
  LocalRetry retry(what);
  while (true) {
    const auto result = call();
    if (result >= 0 || !retry.Again(errno)) return result;
  }
}

}  // namespace stoker
