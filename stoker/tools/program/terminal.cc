#include "stoker/tools/program/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "stoker/base/log.h"

namespace stoker {
namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// ECMA-48, "select graphic rendition".
std::string_view Begin(Style style) {
  switch (style) {
    case Style::kError: return "\x1b[31m";
    case Style::kWarning: return "\x1b[33m";
    case Style::kHeading: return "\x1b[1m";
  }
  return "";
}
constexpr std::string_view kEnd = "\x1b[0m";

}  // namespace

bool IsTerminal(int descriptor) {
  return ::isatty(descriptor) == 1 && Environment("TERM") != "dumb";
}

bool UseColor(int descriptor) { return IsTerminal(descriptor) && Environment("NO_COLOR").empty(); }

std::string Styled(int descriptor, Style style, std::string_view text) {
  if (!UseColor(descriptor)) return std::string(text);
  return fmt::format("{}{}{}", Begin(style), text, kEnd);
}

void UseLogColors() {
  if (!UseColor(STDERR_FILENO)) return;
  SetLogStyle(LogLevel::kError, Begin(Style::kError), kEnd);
  SetLogStyle(LogLevel::kWarning, Begin(Style::kWarning), kEnd);
}

size_t TerminalWidth(int descriptor) {
  winsize size = {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace stoker
