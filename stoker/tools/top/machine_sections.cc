// What the screen shows of the machine, and the verdict.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "stoker/tools/program/text.h"
#include "stoker/tools/top/screen_section_internal.h"
#include "stoker/tools/top/top_rates.h"
#include "stoker/tools/top/top_verdict.h"

namespace stoker {
namespace {

// CPUs that have a bar each: more have a character each.
constexpr size_t kMostBars = 16;
// Of the stolen time, what is worth a word.
constexpr double kStolenFrom = 0.02;

std::string WithBar(const ScreenView& view, std::string_view label, double share,
                    std::string_view text) {
  constexpr size_t kBar = 20;
  std::string line(text);
  if (view.columns >= kLabelColumns + kBar + 30)
    line = fmt::format("[{}] {}", Bar(share, kBar, view.glyphs), text);
  return Labelled(view, label, line);
}

std::string CpuSummary(const MachineRates& rates) {
  double stolen = 0;
  for (const CpuRate& cpu : rates.cpus)
    stolen += cpu.stolen / static_cast<double>(rates.cpus.size());
  std::string text = fmt::format("{} of {}", ShareText(rates.cpu_busy()),
                                 CountText(std::ssize(rates.cpus), "CPU"));
  if (stolen >= kStolenFrom) text += fmt::format(", {} taken by the host", ShareText(stolen));
  return text;
}

// "  0 [||||    ]  45%" for each CPU, several in a line.
std::vector<std::string> CpuBars(const ScreenView& view, const MachineRates& rates) {
  constexpr size_t kBar = 8, kCell = 4 + kBar + 2 + 5 + 1;
  const size_t room = view.columns - std::min(view.columns, kLabelColumns);
  const size_t in_line = std::max<size_t>(1, room / kCell);
  std::vector<std::string> lines;
  std::string line;
  for (size_t i = 0; i < rates.cpus.size(); ++i) {
    const CpuRate& cpu = rates.cpus[i];
    line += fmt::format("{:>3} [{}] {:>4} ", cpu.id, Bar(cpu.busy, kBar, view.glyphs),
                        ShareText(cpu.busy));
    if ((i + 1) % in_line != 0 && i + 1 < rates.cpus.size()) continue;
    lines.push_back(Labelled(view, "", line));
    line.clear();
  }
  return lines;
}

// A character for each CPU.
std::vector<std::string> CpuHeights(const ScreenView& view, const MachineRates& rates) {
  const size_t room = std::max<size_t>(1, view.columns - std::min(view.columns, kLabelColumns));
  std::vector<double> busy;
  for (const CpuRate& cpu : rates.cpus) busy.push_back(cpu.busy);
  std::vector<std::string> lines;
  for (size_t i = 0; i < busy.size(); i += room) {
    const std::span<const double> part(busy.data() + i, std::min(room, busy.size() - i));
    lines.push_back(Labelled(view, "", Heights(part, room, view.glyphs, /*largest=*/1)));
  }
  return lines;
}

void AddCpus(const ScreenView& view, const MachineRates& rates,
             std::vector<ScreenSection>& sections) {
  if (rates.cpus.empty()) return;
  std::vector<std::string> lines = {WithBar(view, "cpu", rates.cpu_busy(), CpuSummary(rates))};
  const bool bars = rates.cpus.size() <= kMostBars;
  for (std::string& line : bars ? CpuBars(view, rates) : CpuHeights(view, rates))
    lines.push_back(std::move(line));

  sections.push_back(SectionOf(SectionPriority::kCpu, std::move(lines)));
}

void AddMemory(const ScreenView& view, std::vector<ScreenSection>& sections) {
  const MemoryUse& memory = view.history.now().machine.memory;
  if (!memory.total_bytes || !memory.available_bytes || *memory.total_bytes <= 0) return;
  const auto total = static_cast<double>(*memory.total_bytes);
  const double used = total - static_cast<double>(*memory.available_bytes);
  std::string text = fmt::format("{} of {}", SizeText(used), SizeText(total));
  if (memory.swap_total_bytes && memory.swap_free_bytes && *memory.swap_total_bytes > 0) {
    text += fmt::format(
        ", swap {} of {}",
        SizeText(static_cast<double>(*memory.swap_total_bytes - *memory.swap_free_bytes)),
        SizeText(static_cast<double>(*memory.swap_total_bytes)));
  }
  sections.push_back(
      SectionOf(SectionPriority::kMemory, {WithBar(view, "memory", used / total, text)}));
}

void AddDisks(const ScreenView& view, const MachineRates& rates,
              std::vector<ScreenSection>& sections) {
  std::vector<std::string> lines;
  for (const DiskRate& disk : rates.disks) {
    const bool still = disk.busy + disk.read_bytes_per_s + disk.written_bytes_per_s == 0;
    if (still && !lines.empty()) continue;
    const std::string text =
        fmt::format("{} {}, reads {}, writes {}", disk.name, ShareText(disk.busy),
                    SpeedText(disk.read_bytes_per_s), SpeedText(disk.written_bytes_per_s));
    lines.push_back(WithBar(view, lines.empty() ? "disk" : "", disk.busy, text));
    if (lines.size() == 4) break;
  }
  if (!lines.empty()) sections.push_back(SectionOf(SectionPriority::kDisk, std::move(lines)));
}

void AddNetworks(const ScreenView& view, const MachineRates& rates,
                 std::vector<ScreenSection>& sections) {
  if (rates.networks.empty()) return;
  const NetworkRate& most = rates.networks.front();
  sections.push_back(LabelledSection(
      view, SectionPriority::kNetwork, "network",
      fmt::format("{} {} in, {} out", most.name, SpeedText(most.received_bytes_per_s),
                  SpeedText(most.sent_bytes_per_s))));
}

std::string GpuText(const GpuSample& gpu) {
  std::vector<std::string> parts;
  if (gpu.used) parts.push_back(fmt::format("{} busy", ShareText(*gpu.used)));
  if (gpu.power_w) {
    parts.push_back(gpu.power_limit_w
                        ? fmt::format("{:.0f} of {:.0f} W", *gpu.power_w, *gpu.power_limit_w)
                        : fmt::format("{:.0f} W", *gpu.power_w));
  }
  if (gpu.memory_used_bytes && gpu.memory_bytes) {
    parts.push_back(fmt::format("{} of {}", SizeText(static_cast<double>(*gpu.memory_used_bytes)),
                                SizeText(static_cast<double>(*gpu.memory_bytes))));
  }
  if (gpu.temperature_c) parts.push_back(fmt::format("{} C", *gpu.temperature_c));
  std::vector<std::string> clock = gpu.slowed_by;
  if (const std::optional<double> drift = ClockDrift(gpu))
    clock.insert(clock.begin(), fmt::format("{:+.0f}%", 100 * *drift));
  std::string text = gpu.clock_mhz ? fmt::format("{} MHz", *gpu.clock_mhz) : std::string("clock");
  if (!clock.empty()) text += fmt::format(" ({})", fmt::join(clock, ", "));
  if (gpu.clock_mhz || !clock.empty()) parts.push_back(std::move(text));
  return fmt::format("{}", fmt::join(parts, "  "));
}

void AddGpus(const ScreenView& view, std::vector<ScreenSection>& sections) {
  std::vector<std::string> lines;
  const std::vector<GpuSample>& gpus = view.history.now().gpus;
  for (size_t i = 0; i < gpus.size(); ++i) {
    std::string text = GpuText(gpus[i]);
    // Its name is known, and is worth no figure.
    const std::string named = text + "  " + gpus[i].name;
    if (kLabelColumns + ColumnsOf(named) <= view.columns) text = named;
    lines.push_back(Labelled(view, fmt::format("gpu {}", i), text));
  }
  if (!lines.empty()) sections.push_back(SectionOf(SectionPriority::kGpu, std::move(lines)));
}

}  // namespace

void AddVerdictSections(const ScreenView& view, std::vector<ScreenSection>& sections) {
  const TopHistory& history = view.history;
  constexpr size_t kMostLines = 4;
  sections.push_back(LabelledSection(
      view, SectionPriority::kVerdict, "verdict",
      history.verdict ? VerdictText(*history.verdict) : "too little has been seen", kMostLines));
  if (!history.advice.empty()) {
    sections.push_back(
        LabelledSection(view, SectionPriority::kAdvice, "try", history.advice, kMostLines));
  }
}

void AddMachineSections(const ScreenView& view, std::vector<ScreenSection>& sections) {
  const MachineRates rates = MachineRatesOf(view.history);
  AddGpus(view, sections);
  AddCpus(view, rates, sections);
  AddMemory(view, sections);
  AddDisks(view, rates, sections);
  AddNetworks(view, rates, sections);
}

}  // namespace stoker
