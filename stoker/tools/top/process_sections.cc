// What the screen shows of a program that is not ours: what its first thread does, and its
// processes.
#include <fmt/format.h>

#include <algorithm>

#include "stoker/tools/foreign/foreign_doctor.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/top/screen_section_internal.h"

namespace stoker {
namespace {

const ProcessTimes* MainOf(const std::vector<ProcessTimes>& processes) {
  const auto main = std::ranges::find(processes, ProcessRole::kMain, &ProcessTimes::role);
  return main == processes.end() ? nullptr : &*main;
}

std::string TotalOf(const std::vector<ProcessTimes>& processes) {
  double cpus = 0, disk = 0;
  int64_t threads = 0, memory = 0;
  for (const ProcessTimes& each : processes) {
    cpus += each.cpus;
    disk += each.disk_bytes_per_s;
    threads += each.threads;
    memory += each.memory_bytes;
  }
  return fmt::format("{:.2f} CPUs  {}, {}  {}  {} from disks", cpus,
                     CountText(std::ssize(processes), "process", "processes"),
                     CountText(threads, "thread"), SizeText(static_cast<double>(memory)),
                     SpeedText(disk));
}

std::string ProcessRow(const ScreenView& view, const ProcessTimes& process) {
  return Cut(
      fmt::format("{:>9} {:>7.2f} {:>8} {:>9}  {}", process.pid, process.cpus, process.threads,
                  SizeText(static_cast<double>(process.memory_bytes)), process.command),
      view.columns, view.glyphs);
}

}  // namespace

void AddProcessSections(const ScreenView& view, std::vector<ScreenSection>& sections) {
  const std::vector<ProcessTimes>& processes = view.history.processes;
  if (processes.empty()) return;
  sections.push_back(LabelledSection(view, SectionPriority::kRate, "uses", TotalOf(processes)));
  if (const ProcessTimes* const main = MainOf(processes)) {
    sections.push_back(LabelledSection(view, SectionPriority::kTime, "time",
                                       "the first thread " + ThreadText(main->first), 2));
  }
  constexpr size_t kMostRows = 200;
  std::vector<std::string> rows = {
      Cut(fmt::format("{:>9} {:>7} {:>8} {:>9}  {}", "pid", "cpus", "threads", "memory", "command"),
          view.columns, view.glyphs)};
  for (const ProcessTimes& each : processes) {
    if (rows.size() > kMostRows) break;
    rows.push_back(ProcessRow(view, each));
  }
  ScreenSection section = SectionOf(SectionPriority::kStages, std::move(rows));
  section.least = 2;
  sections.push_back(std::move(section));
}

}  // namespace stoker
