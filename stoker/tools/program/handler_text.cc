#include "stoker/tools/program/handler_text.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>

#include "stoker/tools/program/terminal.h"

namespace stoker {
namespace {

std::atomic<bool> on_terminal{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in signal handlers");

}  // namespace

void PrepareHandlerText() { on_terminal = IsTerminal(STDERR_FILENO); }

void BeginLineInHandler() {
  if (on_terminal) WriteInHandler(kEraseLine);
}

// Where the reader takes nothing the text is lost: the process must be able to go on, since it
// stores what was done.
void WriteInHandler(std::string_view text) {
  constexpr int kMilliseconds = 100;
  pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&room, 1, kMilliseconds) <= 0) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace stoker
