#include "stoker/base/log.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "stoker/base/printable.h"
#include "stoker/base/remote_path.h"
#include "stoker/base/write_text.h"

namespace stoker {
namespace {

std::atomic<LogLevel> lowest_shown{LogLevel::kInfo};

struct LogStyle {
  std::string_view before, after;
};

LogStyle& StyleOf(LogLevel level) {
  static std::array<LogStyle, 4> styles;
  return styles[static_cast<size_t>(level)];
}

LogSink& Sink() {
  static LogSink& sink = *new LogSink;  // never destroyed: threads may log to the end
  return sink;
}

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
  const std::string printable = Printable(WithoutSecrets(message));
  if (Sink()) {
    Sink()(level, printable);
    return;
  }
  const LogStyle& style = StyleOf(level);
  const std::string line =
      fmt::format("{}{}{}{}\n", Prefix(level), style.before, printable, style.after);
  // One call per line, so that lines of several threads do not mix. A failure here can be reported
  // nowhere.
  (void)WriteText(STDERR_FILENO, line);
}

void SetLogLevel(LogLevel level) { lowest_shown.store(level, std::memory_order_relaxed); }

void SetLogSink(LogSink sink) { Sink() = std::move(sink); }

void SetLogStyle(LogLevel level, std::string_view before, std::string_view after) {
  StyleOf(level) = {before, after};
}

}  // namespace stoker
