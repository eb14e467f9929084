// The report of the doctor for programs that are not ours, for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stoker/base/proc_text.h"
#include "stoker/tools/foreign/foreign_doctor.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// "compute 60%, input 30% (train.py:12), start-up 10%"
std::string PartsText(const PythonView& view) {
  std::string text;
  for (int part = 0; part < kPythonParts; ++part) {
    const PartTimes& times = view.of(static_cast<PythonPart>(part));
    if (times.share < 0.01) continue;
    text += fmt::format("{}{} {:.0f}%{}", text.empty() ? "" : ", ",
                        NameOf(static_cast<PythonPart>(part)), 100 * times.share,
                        times.blame.place.empty() ? "" : " (" + times.blame.place + ")");
  }
  if (view.startup_share >= 0.01)
    text += fmt::format("; before the first step {:.0f}%", 100 * view.startup_share);
  return text;
}

// "NVIDIA H100 (compute capability 9.0): in use 97%, power 80% of the limit, memory 40%, slowed by
// heat"
std::string GpuText(const GpuTimes& gpu) {
  std::string text = gpu.name;
  if (gpu.compute_major > 0)
    text += fmt::format(" (compute capability {}.{})", gpu.compute_major, gpu.compute_minor);
  text += ":";
  const auto add = [&text](std::string_view what, const std::optional<double>& share) {
    if (share) text += fmt::format(" {} {:.0f}%,", what, 100 * *share);
  };
  add("in use", gpu.used);
  add("power", gpu.power_share);
  add("memory", gpu.memory_share);
  if (!gpu.slowed_by.empty()) return text + " slowed by " + gpu.slowed_by;
  text.pop_back();
  return text;
}

// "kernels or copies run 63%, 4100 kernels a second of 95 us, the program waits for it 20%"
std::string CudaText(const CudaTimes& cuda) {
  return fmt::format(
      "kernels or copies run {:.0f}%, {:.0f} kernels a second of {:.3g} us, the program waits for "
      "it {:.0f}%",
      100 * cuda.busy, cuda.kernels_per_s, 1e6 * cuda.kernel_s, 100 * std::min(1.0, cuda.waits));
}

// "receives 120 MB a second, the control group uses 93% of its memory"; "" if nothing stands out.
std::string MachineText(const HostTimes& machine) {
  constexpr double kMuch = 1e6;  // bytes a second
  constexpr double kNearlyFull = 0.8;
  std::vector<std::string> parts;
  const auto add_rate = [&parts](std::string_view what, double bytes_per_s) {
    if (bytes_per_s >= kMuch)
      parts.push_back(fmt::format("{} {:.0f} MB a second", what, 1e-6 * bytes_per_s));
  };
  const auto add_share = [&parts](std::string_view what, const std::optional<double>& share) {
    if (share && *share >= kNearlyFull)
      parts.push_back(fmt::format("{} {:.0f}%", what, 100 * *share));
  };
  add_rate("receives", machine.received_bytes_per_s);
  add_rate("sends", machine.sent_bytes_per_s);
  add_share("the control group's memory is used up to", machine.group_memory_share);
  add_share("/dev/shm is full to", machine.shared_memory_share);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string ProcessText(const ProcessTimes& process) {
  constexpr size_t kMost = 50;
  const std::string& command = process.command;
  return fmt::format("{} {}: {:.2f} CPUs, {}, {}", process.pid,
                     command.size() <= kMost ? command : command.substr(0, kMost) + "...",
                     process.cpus, CountText(process.threads, "thread"),
                     ByteText(static_cast<uint64_t>(std::max<int64_t>(0, process.memory_bytes))));
}

}  // namespace

std::string ThreadText(const ThreadTimes& times) {
  struct Part {
    double share;
    std::string_view text;
  };
  std::vector<Part> parts = {{times.cpu, "computes"},
                             {times.queued, "waits for a CPU"},
                             {times.disk, "waits for a disk"},
                             {times.lock, "waits for locks or other threads"},
                             {times.poll, "waits for other processes (poll)"},
                             {times.network, "waits for a server"},
                             {times.read, "reads a pipe"},
                             {times.sleep, "sleeps"},
                             {times.child, "waits for a process to end"},
                             {times.other, "waits otherwise"}};
  std::ranges::stable_sort(parts, std::ranges::greater(), &Part::share);
  std::string text;
  for (const Part& part : parts) {
    if (part.share < 0.01) continue;
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", part.text, 100 * part.share);
  }
  return text;
}

std::string ForeignDoctorText(const ProcessProfile& profile, const Diagnosis& diagnosis) {
  std::vector<std::vector<std::string>> rows = {
      {"verdict", fmt::format("{}: {}", NameOf(diagnosis.verdict), diagnosis.Sentence())}};
  const auto add = [&](std::string name, std::string text) {
    if (!text.empty()) rows.push_back({std::move(name), std::move(text)});
  };
  add("because", diagnosis.why);
  if (const ProcessTimes* const main = profile.main()) {
    add("time", fmt::format("the first thread {}", ThreadText(main->first)));
    if (profile.python) add("parts", PartsText(*profile.python));
    if (profile.gpu) add("gpu", GpuText(*profile.gpu));
    if (profile.cuda) add(profile.gpu ? "" : "gpu", CudaText(*profile.cuda));
    add("machine", MachineText(profile.machine));
    constexpr int kShown = 8;
    int shown = 0;
    for (const ProcessTimes& each : profile.processes) {
      if (shown == kShown) break;
      add(shown++ == 0 ? "processes" : "", ProcessText(each));
    }
    if (std::ssize(profile.processes) > kShown)
      add("", fmt::format("and {} more", std::ssize(profile.processes) - kShown));
  }
  int number = 0;
  for (const Prescription& each : diagnosis.prescriptions) {
    ++number;
    add(number == 1 ? "try" : "", fmt::format("{}. {}  ({:.2g} to {:.2g} times as fast)", number,
                                              each.text, each.gain_low, each.gain_high));
    add("", "   " + each.why);
    if (!each.caution.empty()) add("", "   may change the accuracy: " + each.caution);
  }
  bool first_line = true;
  for (const std::string_view line : SplitLines(diagnosis.snippet)) {
    if (!line.empty()) add(first_line ? "instead" : "", std::string(line));
    first_line = false;
  }
  if (profile.exit_code) {
    add("ended", fmt::format("by itself after {}, exit code {}", DurationText(profile.seconds),
                             *profile.exit_code));
  }
  for (const std::string& note : profile.notes) add("note", note);
  if (profile.interrupted) add("note", "a signal ended the measurement early");
  if (!profile.error.empty()) add("error", profile.error);
  return TableText(rows);
}

}  // namespace stoker
