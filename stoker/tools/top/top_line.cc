#include "stoker/tools/top/top_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "stoker/base/json_or_null.h"
#include "stoker/base/printable.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/top/screen_section_internal.h"
#include "stoker/tools/top/top_rates.h"

namespace stoker {
namespace {

constexpr double kWaitFrom = 0.01;

void AddRunParts(const TopHistory& history, std::vector<std::string>& parts) {
  if (!history.now().progress) return parts.push_back(history.state_text);
  const PublishedProgress& progress = *history.now().progress;
  if (history.state != TopState::kRunning) parts.push_back(history.state_text);
  parts.push_back(fmt::format("step {} of {}", progress.step, progress.total_steps));
  if (!progress.input) return;
  parts.push_back(fmt::format("epoch {:.2f}", progress.epoch));
  parts.push_back(fmt::format("loss {:.4g}", progress.loss));
  parts.push_back(fmt::format("{:.0f} {}s/s", progress.samples_per_s, progress.noun));
  if (progress.waited >= kWaitFrom)
    parts.push_back(fmt::format("waits {}", ShareText(progress.waited)));
}

void AddProcessParts(const TopHistory& history, std::vector<std::string>& parts) {
  if (history.state != TopState::kRunning) parts.push_back(history.state_text);
  double cpus = 0, memory = 0;
  for (const ProcessTimes& each : history.processes) {
    cpus += each.cpus;
    memory += static_cast<double>(each.memory_bytes);
  }
  parts.push_back(fmt::format("{} {:.2f} CPUs {}",
                              CountText(std::ssize(history.processes), "process", "processes"),
                              cpus, SizeText(memory)));
}

void AddMachineParts(const TopHistory& history, std::vector<std::string>& parts) {
  const MachineRates rates = MachineRatesOf(history);
  if (!rates.cpus.empty()) parts.push_back("cpu " + ShareText(rates.cpu_busy()));
  const MemoryUse& memory = history.now().machine.memory;
  if (memory.total_bytes && memory.available_bytes) {
    parts.push_back(
        fmt::format("memory {} of {}",
                    SizeText(static_cast<double>(*memory.total_bytes - *memory.available_bytes)),
                    SizeText(static_cast<double>(*memory.total_bytes))));
  }
  if (!rates.disks.empty()) {
    const DiskRate& disk = rates.disks.front();
    parts.push_back(fmt::format("{} {} read {} written {}", disk.name, ShareText(disk.busy),
                                SpeedText(disk.read_bytes_per_s),
                                SpeedText(disk.written_bytes_per_s)));
  }
  for (size_t i = 0; i < history.now().gpus.size(); ++i) {
    const GpuSample& gpu = history.now().gpus[i];
    std::string text = fmt::format("gpu {}", i);
    if (gpu.used) text += " " + ShareText(*gpu.used);
    if (gpu.power_w) text += fmt::format(" {:.0f} W", *gpu.power_w);
    if (gpu.temperature_c) text += fmt::format(" {} C", *gpu.temperature_c);
    parts.push_back(std::move(text));
  }
}

Json JsonOf(const MachineRates& rates, const MemoryUse& memory) {
  Json cpus = Json::array(), disks = Json::array(), networks = Json::array();
  for (const CpuRate& cpu : rates.cpus)
    cpus.push_back({{"id", cpu.id}, {"busy", cpu.busy}, {"stolen", cpu.stolen}});
  for (const DiskRate& disk : rates.disks) {
    disks.push_back({{"name", disk.name},
                     {"busy", disk.busy},
                     {"read_bytes_per_s", FiniteOrNull(disk.read_bytes_per_s)},
                     {"written_bytes_per_s", FiniteOrNull(disk.written_bytes_per_s)}});
  }
  for (const NetworkRate& network : rates.networks) {
    networks.push_back({{"name", network.name},
                        {"received_bytes_per_s", FiniteOrNull(network.received_bytes_per_s)},
                        {"sent_bytes_per_s", FiniteOrNull(network.sent_bytes_per_s)}});
  }
  return {{"cpus", std::move(cpus)},
          {"memory",
           {{"total_bytes", OrNull(memory.total_bytes)},
            {"available_bytes", OrNull(memory.available_bytes)},
            {"swap_total_bytes", OrNull(memory.swap_total_bytes)},
            {"swap_free_bytes", OrNull(memory.swap_free_bytes)}}},
          {"disks", std::move(disks)},
          {"networks", std::move(networks)}};
}

Json JsonOf(const GpuSample& gpu) {
  return {{"name", gpu.name},
          {"used", OrNull(gpu.used)},
          {"power_w", OrNull(gpu.power_w)},
          {"power_limit_w", OrNull(gpu.power_limit_w)},
          {"memory_bytes", OrNull(gpu.memory_bytes)},
          {"memory_used_bytes", OrNull(gpu.memory_used_bytes)},
          {"temperature_c", OrNull(gpu.temperature_c)},
          {"clock_mhz", OrNull(gpu.clock_mhz)},
          {"most_clock_mhz", OrNull(gpu.most_clock_mhz)},
          {"clock_drift", OrNull(ClockDrift(gpu))},
          {"slowed_by", gpu.slowed_by}};
}

Json JsonOf(const RunWindow& window) {
  Json stages = Json::array();
  for (const StageRate& stage : window.rates) {
    stages.push_back({{"name", stage.name},
                      {"work", NameOf(stage.work)},
                      {"busy", FiniteOrNull(stage.busy)},
                      {"starved", FiniteOrNull(stage.starved)},
                      {"blocked", FiniteOrNull(stage.blocked)},
                      {"elements_per_s", FiniteOrNull(stage.elements_per_s)},
                      {"bytes_per_s", FiniteOrNull(stage.bytes_per_s)}});
  }
  const TimeShares shares = TimeSharesOf(window);
  return {{"seconds", window.seconds},
          {"stages", std::move(stages)},
          {"time",
           {{"compute", shares.compute},
            {"wait", shares.wait},
            {"evaluation", shares.evaluation},
            {"checkpoint", shares.checkpoint},
            {"logging", shares.logging},
            {"other", shares.other}}}};
}

std::string_view NameOf(TopState state) {
  switch (state) {
    case TopState::kStarting: return "starting";
    case TopState::kRunning: return "running";
    case TopState::kEnded: break;
  }
  return "ended";
}

}  // namespace

std::string TopLine(const TopHistory& history, std::string_view time) {
  std::vector<std::string> parts;
  if (!time.empty()) parts.emplace_back(time);
  if (history.is_run)
    AddRunParts(history, parts);
  else
    AddProcessParts(history, parts);
  AddMachineParts(history, parts);
  if (history.verdict) {
    std::string text(NameOf(history.verdict->verdict));
    if (!history.verdict->stage.empty()) text += fmt::format(" `{}`", history.verdict->stage);
    parts.push_back("verdict " + text);
  }
  return Printable(fmt::format("{}", fmt::join(parts, "  ")));
}

Json TopJson(const TopHistory& history, double unix_seconds) {
  Json gpus = Json::array(), processes = Json::array();
  for (const GpuSample& gpu : history.now().gpus) gpus.push_back(JsonOf(gpu));
  for (const ProcessTimes& each : history.processes) processes.push_back(each.ToJson());
  const std::optional<RunWindow> window =
      history.is_run ? RunWindowOf(history) : std::optional<RunWindow>();
  const TopSample& now = history.now();
  return {{"schema", 1},
          {"rank", now.progress ? now.progress->rank : 0},
          {"host", history.host},
          {"unix_seconds", unix_seconds},
          {"target", history.target},
          {"state", NameOf(history.state)},
          {"state_text", history.state_text},
          {"progress", now.progress ? now.progress->ToJson() : Json()},
          {"progress_age_seconds", now.progress ? FiniteOrNull(now.progress_age_s) : Json()},
          {"window", window ? JsonOf(*window) : Json()},
          {"processes", std::move(processes)},
          {"machine", JsonOf(MachineRatesOf(history), now.machine.memory)},
          {"gpus", std::move(gpus)},
          {"verdict", history.verdict ? history.verdict->ToJson() : Json()},
          {"advice", history.advice.empty() ? Json() : Json(history.advice)},
          {"notes", history.notes}};
}

}  // namespace stoker
