#include "stoker/machine/processes/process_reader.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "stoker/base/proc_text.h"
#include "stoker/machine/processes/proc_lines.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

std::vector<int64_t> NumbersIn(const fs::path& folder) {
  std::vector<int64_t> numbers;
  std::error_code error;
  // A folder of a process that ends meanwhile ends the loop.
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    if (const auto number = ParseCount(each->path().filename().string()))
      numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

ProcessReader::ProcessReader(int64_t top, bool with_top, fs::path proc)
    : top_(top), with_top_(with_top), proc_(std::move(proc)) {}

void ProcessReader::FindTree() {
  std::map<int64_t, StatLine> all;
  for (const int64_t pid : NumbersIn(proc_)) {
    if (auto line = ParseStat(ReadSmallText(proc_ / std::to_string(pid) / "stat")))
      all.emplace(pid, *std::move(line));
  }
  std::multimap<int64_t, int64_t> children;
  for (const auto& [pid, line] : all) children.emplace(line.parent, pid);
  std::vector<int64_t> found = {top_};
  for (const auto& [start, pid] : std::exchange(tree_, {})) {
    const auto known = all.find(pid);
    if (known != all.end() && known->second.start == start) found.push_back(pid);
  }
  std::set<int64_t> seen;
  while (!found.empty()) {
    const int64_t pid = found.back();
    found.pop_back();
    if (excluded_.contains(pid) || !all.contains(pid) || !seen.insert(pid).second) continue;
    if (pid != top_ || with_top_) tree_.emplace(all.at(pid).start, pid);
    const auto [begin, end] = children.equal_range(pid);
    for (auto each = begin; each != end; ++each) found.push_back(each->second);
  }
}

std::vector<ProcessSample> ProcessReader::Read() const {
  std::vector<ProcessSample> samples;
  for (const auto& [start, pid] : tree_) {
    ProcessSample sample = ReadProcess(pid);
    if (sample.pid != 0 && sample.start == start) samples.push_back(std::move(sample));
  }
  return samples;
}

ProcessSample ProcessReader::ReadProcess(int64_t pid) const {
  const fs::path folder = proc_ / std::to_string(pid);
  auto line = ParseStat(ReadSmallText(folder / "stat"));
  if (!line) return {};
  const std::string io = ReadSmallText(folder / "io");
  const auto of_io = [&](std::string_view key) {
    const auto value = ValueOf(io, key);
    return value ? ParseCount(*value) : std::nullopt;
  };
  // The first thread of a process may end before others, and is a zombie then.
  const bool ended = (line->state == 'Z' && line->threads <= 1) || line->state == 'X';
  ProcessSample sample{.pid = pid,
                       .parent = line->parent,
                       .start = line->start,
                       .name = std::move(line->name),
                       .ended = ended,
                       .user_ticks = line->user_ticks,
                       .system_ticks = line->system_ticks,
                       .minor_faults = line->minor_faults,
                       .major_faults = line->major_faults,
                       .memory_bytes = line->memory_pages * ::sysconf(_SC_PAGESIZE),
                       .disk_bytes = of_io("read_bytes"),
                       .read_bytes = of_io("rchar"),
                       .threads = {}};
  if (sample.ended) return sample;
  for (const int64_t id : NumbersIn(folder / "task"))
    sample.threads.push_back(ReadThread(folder / "task" / std::to_string(id), id));
  // The first thread has the process's number, but after 2^22 processes not the lowest one.
  std::ranges::stable_partition(sample.threads,
                                [pid](const ThreadSample& each) { return each.id == pid; });
  return sample;
}

ThreadSample ProcessReader::ReadThread(const fs::path& folder, int64_t id) const {
  ThreadSample sample{.id = id};
  const auto line = ParseStat(ReadSmallText(folder / "stat"));
  if (!line) return sample;
  std::string call, wchan;
  if (line->state == 'S') {
    call = ReadSmallText(folder / "syscall");
    if (call.empty()) sees_calls_ = false;
    if (NeedsWchan(call)) wchan = ReadSmallText(folder / "wchan");
  }
  sample.state = StateOf(line->state, call, wchan);
  if (const auto counted = ParseSchedstat(ReadSmallText(folder / "schedstat"))) {
    sample.cpu_ns = counted->cpu_ns;
    sample.queued_ns = counted->queued_ns;
    sample.slices = counted->slices;
  } else {  // a kernel without CONFIG_SCHED_INFO
    sample.cpu_ns =
        (line->user_ticks + line->system_ticks) * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  }
  return sample;
}

std::vector<std::string> CommandLineOf(int64_t pid, const fs::path& proc) {
  const fs::path folder = proc / std::to_string(pid);
  std::string text = ReadSmallText(folder / "cmdline");
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    words.push_back(text.substr(0, end));
    text.erase(0, end + 1);
  }
  if (!words.empty()) return words;
  const auto line = ParseStat(ReadSmallText(folder / "stat"));
  return {"[" + (line ? line->name : std::string("?")) + "]"};
}

}  // namespace stoker
