// The text of a trace: JSON in Chrome's Trace Event Format, the form with an object around the list
// of events, which chrome://tracing and ui.perfetto.dev open.
//
// A file is the text of TraceBegin, events with ",\n" between them, and kTraceEnd. docs/profiles.md
// says what the events mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/json.h"
#include "stoker/base/trace_recorder.h"

namespace stoker {

// The process that is traced.
struct TraceProcess {
  std::string command = {};  // "stoker train"
  std::string version = {};  // of the program
  std::string host = {};
  int64_t rank = 0;  // of the processes that train together
  int64_t pid = 0;
};

inline constexpr std::string_view kTraceEnd = "\n]}\n";

// Returns the beginning of the file: what precedes the events, and the first of them, which name
// the process.
std::string TraceBegin(const TraceProcess& process);

// Returns what a span or counter is called: of a stage that waits "decode: waits for its input".
std::string TraceLabel(std::string_view name, TraceKind kind);

// Appends ",\n" and the event.
//   origin_ns  the NowNs() of time 0 in the trace; what begins a moment before is cut there
void AppendThreadName(const TraceThread& thread, int64_t pid, std::string& text);
void AppendEvent(const TraceEvent& event, const TraceThread& thread, int64_t pid, int64_t origin_ns,
                 std::string& text);
// A mark in the whole process, with what `arguments`, an object, says.
void AppendMark(std::string_view name, const Json& arguments, int64_t now_ns, int64_t pid,
                int64_t origin_ns, std::string& text);

}  // namespace stoker
