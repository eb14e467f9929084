#include "stoker/base/write_text.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace stoker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often a wait looks at the flag, and how long a reader then has left.
constexpr milliseconds kLookEvery{50};
constexpr milliseconds kMoment{200};

std::atomic<const std::atomic<bool>*> stopped_flag{nullptr};
// After a reader has used its moment up, later texts do not wait for it again.
std::atomic<bool> no_more_moments{false};

bool Stopped() {
  const std::atomic<bool>* const flag = stopped_flag.load();
  return flag != nullptr && flag->load();
}

// Waits until `descriptor` takes a part of PIPE_BUF bytes without blocking, or has an error that
// the write will tell. Returns false if nobody reads and that is not to be waited for.
bool WaitForRoom(int descriptor) {
  pollfd room = {.fd = descriptor, .events = POLLOUT, .revents = 0};
  steady_clock::time_point until = steady_clock::time_point::max();
  while (::poll(&room, 1, static_cast<int>(kLookEvery.count())) <= 0) {
    if (!Stopped()) continue;
    if (no_more_moments) return false;
    if (until == steady_clock::time_point::max()) until = steady_clock::now() + kMoment;
    if (steady_clock::now() < until) continue;
    no_more_moments = true;
    return false;
  }
  return true;
}

}  // namespace

bool WriteText(int descriptor, std::string_view text) {
  while (!text.empty()) {
    if (!WaitForRoom(descriptor)) {
      errno = EAGAIN;
      return false;
    }
    const size_t part = std::min<size_t>(text.size(), PIPE_BUF);
    const ssize_t written = ::write(descriptor, text.data(), part);
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
  return true;
}

void StopWaitingToWrite(const std::atomic<bool>* stopped) {
  stopped_flag = stopped;
  no_more_moments = false;
}

}  // namespace stoker
