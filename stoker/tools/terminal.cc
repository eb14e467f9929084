#include "stoker/tools/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace stoker {
namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool IsTerminal(int descriptor) {
  return ::isatty(descriptor) == 1 && Environment("TERM") != "dumb";
}

bool UseColor(int descriptor) { return IsTerminal(descriptor) && Environment("NO_COLOR").empty(); }

size_t TerminalWidth(int descriptor) {
  winsize size = {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace stoker
