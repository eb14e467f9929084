#include "stoker/trace/folded_stacks.h"

#include <fmt/format.h>

#include "stoker/trace/chrome_trace.h"

namespace stoker {
namespace {

std::string FrameName(std::string name) {
  for (char& c : name) {
    if (c == ';') c = ',';
    if (c >= 0 && c < ' ') c = ' ';
  }
  return name.empty() ? "(no name)" : name;
}

void AppendLines(const std::string& around, const TraceStack& stack, std::string& text) {
  const std::string frames =
      fmt::format("{};{}", around, FrameName(TraceLabel(stack.name, stack.kind)));
  const int64_t microseconds = (stack.self_ns() + 500) / 1000;
  if (microseconds > 0) text += fmt::format("{} {}\n", frames, microseconds);
  for (const TraceStack& child : stack.children) AppendLines(frames, child, text);
}

}  // namespace

std::string FoldedStacks(const std::vector<TraceThreadStacks>& threads) {
  std::string text;
  for (const TraceThreadStacks& each : threads) {
    for (const TraceStack& stack : each.stacks) AppendLines(FrameName(each.thread), stack, text);
  }
  return text;
}

}  // namespace stoker
