#include "stoker/trace/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "stoker/base/json_text.h"

namespace stoker {
namespace {

struct KindText {
  std::string_view category;
  std::string_view after;  // the name, in labels
};

KindText TextOf(TraceKind kind) {
  switch (kind) {
    case TraceKind::kWork: break;
    case TraceKind::kStarved: return {"starved", ": waits for its input"};
    case TraceKind::kBlocked: return {"blocked", ": waits for room"};
    case TraceKind::kMemory: return {"memory", ": waits for memory"};
    case TraceKind::kTurn: return {"turn", ": waits for its turn"};
    case TraceKind::kQueue: return {"queue", ": ready"};
    case TraceKind::kBytes: return {"bytes", ""};
  }
  return {"work", ""};
}

// Microseconds with all digits: a double would lose some after some days.
void AppendMicroseconds(int64_t ns, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{}.{:03}", ns / 1000, ns % 1000);
}

bool IsPlain(std::string_view name) {
  for (const char c : name) {
    if (c < ' ' || c > '~' || c == '"' || c == '\\') return false;
  }
  return true;
}

// In quotes.
void AppendString(std::string_view name, std::string& text) {
  if (!IsPlain(name)) {
    text += DumpJson(std::string(name));
    return;
  }
  text += '"';
  text += name;
  text += '"';
}

void AppendPlace(int64_t pid, int64_t tid, std::string& text) {
  fmt::format_to(std::back_inserter(text), ",\"pid\":{},\"tid\":{}", pid, tid);
}

std::string MetadataEvent(std::string_view name, const Json& arguments, int64_t pid, int64_t tid) {
  return DumpJson({{"name", name}, {"ph", "M"}, {"pid", pid}, {"tid", tid}, {"args", arguments}});
}

}  // namespace

std::string TraceBegin(const TraceProcess& process) {
  const Json about = {{"schema", 1},
                      {"rank", process.rank},
                      {"host", process.host},
                      {"command", process.command},
                      {"version", process.version}};
  std::string text =
      "{\"displayTimeUnit\":\"ms\",\"otherData\":" + DumpJson(about) + ",\n\"traceEvents\":[\n";
  const std::string name =
      fmt::format("{} (rank {} on {})", process.command, process.rank, process.host);
  text += MetadataEvent("process_name", {{"name", name}}, process.pid, process.pid) + ",\n";
  text +=
      MetadataEvent("process_sort_index", {{"sort_index", process.rank}}, process.pid, process.pid);
  return text;
}

std::string TraceLabel(std::string_view name, TraceKind kind) {
  return fmt::format("{}{}", name, TextOf(kind).after);
}

void AppendThreadName(const TraceThread& thread, int64_t pid, std::string& text) {
  text += ",\n" + MetadataEvent("thread_name", {{"name", thread.name}}, pid, thread.id);
}

void AppendEvent(const TraceEvent& event, const TraceThread& thread, int64_t pid, int64_t origin_ns,
                 std::string& text) {
  const KindText kind = TextOf(event.kind);
  text += ",\n{\"name\":";
  AppendString(TraceLabel(event.name, event.kind), text);
  text += ",\"cat\":\"";
  text += kind.category;
  text += event.is_counter() ? "\",\"ph\":\"C\",\"ts\":" : "\",\"ph\":\"X\",\"ts\":";
  const int64_t begin_ns = std::max(event.begin_ns, origin_ns);
  AppendMicroseconds(begin_ns - origin_ns, text);
  if (event.is_counter()) {
    AppendPlace(pid, thread.id, text);
    fmt::format_to(std::back_inserter(text), ",\"args\":{{\"{}\":{}}}",
                   event.kind == TraceKind::kQueue ? "waiting" : "bytes", event.end_ns);
  } else {
    text += ",\"dur\":";
    AppendMicroseconds(std::max<int64_t>(0, event.end_ns - begin_ns), text);
    AppendPlace(pid, thread.id, text);
  }
  text += '}';
}

void AppendMark(std::string_view name, const Json& arguments, int64_t now_ns, int64_t pid,
                int64_t origin_ns, std::string& text) {
  text += ",\n{\"name\":";
  AppendString(name, text);
  text += ",\"cat\":\"trace\",\"ph\":\"i\",\"s\":\"p\",\"ts\":";
  AppendMicroseconds(now_ns - origin_ns, text);
  AppendPlace(pid, pid, text);
  text += ",\"args\":" + DumpJson(arguments) + "}";
}

}  // namespace stoker
