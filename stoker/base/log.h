// Messages on standard error. Only programs and long-running loops log; libraries return Status.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace stoker {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Writes "stoker: warning: message" (without the level for info) on one line, the message made
// printable (printable.h). Thread-safe; one write a line.
void Log(LogLevel level, std::string_view message);
void SetLogLevel(LogLevel lowest_shown);  // kInfo at start

// Sets what Log writes before and after a message of `level`, such as escape sequences for colours;
// empty at start. Both must live as long as the program. Call before other threads log.
void SetLogStyle(LogLevel level, std::string_view before, std::string_view after);

// Has Log call `sink` with the printable message instead of writing it; an empty one ends that.
// Called on any thread, which may hold locks, so it must neither wait nor log. Call before other
// threads log.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;
void SetLogSink(LogSink sink);

template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogWarning(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace stoker
