#include "stoker/base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

namespace stoker {
namespace {

std::atomic<LogLevel> lowest_shown{LogLevel::kInfo};

std::string_view Prefix(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "stoker: debug: ";
    case LogLevel::kInfo: return "stoker: ";
    case LogLevel::kWarning: return "stoker: warning: ";
    case LogLevel::kError: return "stoker: error: ";
  }
  return "stoker: ";
}

}  // namespace

void Log(LogLevel level, std::string_view message) {
  if (level < lowest_shown.load(std::memory_order_relaxed)) return;
  const std::string line = fmt::format("{}{}\n", Prefix(level), message);
  // One call a line, so that lines of several threads do not mix. Nobody is left to hear that this
  // one failed.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void SetLogLevel(LogLevel level) { lowest_shown.store(level, std::memory_order_relaxed); }

}  // namespace stoker
