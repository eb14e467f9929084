#include "stoker/tools/program/handler_text.h"

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

void WriteInHandler(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace stoker
