#include "stoker/tools/top/process_source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/proc_text.h"
#include "stoker/base/worker_group.h"
#include "stoker/doctor/diagnose_processes.h"
#include "stoker/tools/foreign/process_facts.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/top/top_rates.h"

namespace stoker {
namespace {

// Looking at threads may take this share of a CPU; looking for processes and reading the counters
// of the machine as much each.
constexpr double kLookShare = 0.002;
constexpr double kLeastPause = 0.1, kLeastRarePause = 1, kMostPause = 30;
// A verdict from less says little.
constexpr double kLeastSeen = 2;

int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

// How long to wait after something that took so many seconds of a CPU.
double PauseAfter(double took, double least) {
  return std::clamp(took / kLookShare, least, kMostPause);
}

double SecondsBetween(int64_t begin_ns, int64_t end_ns) {
  return static_cast<double>(end_ns - begin_ns) * 1e-9;
}

}  // namespace

ProcessSource::ProcessSource(int64_t pid) : pid_(pid), reader_(pid, /*with_top=*/true) {}

Result<ProcessSource> ProcessSource::Open(int64_t pid) {
  if (pid == ::getpid()) return InvalidArgument("{}: that is `stoker top` itself", pid);
  ProcessSource source(pid);
  const int64_t now = NowNs();
  source.FindTree(now);
  source.tree_ = source.reader_.Read();
  if (source.Ended()) {
    return NotFound("{}: there is no such process, nor a run of that name; `ps` lists processes",
                    pid);
  }
  source.command_ = ShellWords(CommandLineOf(pid));
  source.ReadHost(now);
  source.older_ = source.newer_ = source.WatchedFrom(now);
  return source;
}

ProcessSource::Watched ProcessSource::WatchedFrom(int64_t now_ns) const {
  Watched watched;
  watched.begin = host_;
  watched.begin_ns = now_ns;
  return watched;
}

bool ProcessSource::Ended() const {
  return std::ranges::all_of(tree_, [](const ProcessSample& each) { return each.ended; });
}

// Reads a line of each process of the machine, so it is done more rarely where there are many.
void ProcessSource::FindTree(int64_t now_ns) {
  const double before = ThreadCpuSeconds();
  reader_.FindTree();
  tree_due_ns_ = now_ns + Ns(PauseAfter(ThreadCpuSeconds() - before, kLeastRarePause));
}

// A machine with many CPUs has many files to read.
void ProcessSource::ReadHost(int64_t now_ns) {
  const double before = ThreadCpuSeconds();
  host_ = {.counters = ReadHostCounters(), .at_ns = now_ns};
  host_due_ns_ = now_ns + Ns(PauseAfter(ThreadCpuSeconds() - before, kLeastRarePause));
}

void ProcessSource::Take(Watched& watched, double others, int64_t now_ns) const {
  watched.watch.Add(tree_, now_ns);
  watched.others += others;
  ++watched.looks;
  for (const ProcessSample& each : tree_) {
    if (watched.watch.WantsCommand(each))
      watched.watch.SetCommand(each.pid, CommandLineOf(each.pid));
  }
}

double ProcessSource::LookAtThreads() {
  const double before = ThreadCpuSeconds();
  const int64_t now = NowNs();
  tree_ = reader_.Read();
  double runnable = 0;
  for (const ProcessSample& each : tree_) {
    runnable += static_cast<double>(
        std::ranges::count(each.threads, ThreadState::kRunning, &ThreadSample::state));
  }
  const double others = std::max(0.0, ReadRunnable() - runnable - 1);  // this process runs too
  Take(older_, others, now);
  Take(newer_, others, now);
  // Its libraries are loaded in the first seconds.
  constexpr int64_t kFrameworkEvery = 50;
  if (framework_ == Framework::kUnknown && looks_++ % kFrameworkEvery == 0) {
    for (const ProcessSample& each : tree_) {
      if (const Framework found = FrameworkOf(each.pid); found != Framework::kUnknown)
        framework_ = found;
    }
  }
  const double took = ThreadCpuSeconds() - before;
  if (now >= tree_due_ns_) FindTree(now);
  if (now >= host_due_ns_) ReadHost(now);
  return PauseAfter(took, kLeastPause);
}

ProcessProfile ProcessSource::Profile(int64_t now_ns) const {
  ProcessProfile profile;
  profile.host = ReadSmallText("/proc/sys/kernel/hostname");
  profile.cpus = AvailableCpus();
  profile.command = command_;
  profile.seconds = SecondsBetween(older_.begin_ns, now_ns);
  profile.framework = framework_;
  profile.machine = HostTimesBetween(older_.begin.counters, host_.counters,
                                     SecondsBetween(older_.begin.at_ns, host_.at_ns));
  if (older_.looks > 0)
    profile.machine.other_runnable = older_.others / static_cast<double>(older_.looks);
  profile.processes = older_.watch.Times();
  return profile;
}

void ProcessSource::Look(TopHistory& history) {
  const int64_t now = NowNs();
  history.command = command_;
  // The next look at the threads may be some time ahead.
  std::error_code error;
  if (Ended() || !std::filesystem::exists(fmt::format("/proc/{}", pid_), error))
    tree_ = reader_.Read();
  history.state = Ended() ? TopState::kEnded : TopState::kRunning;
  history.state_text = Ended() ? "has ended" : "running";
  const ProcessProfile profile = Profile(now);
  // Those that have ended since would be shown as if they ran.
  history.processes = profile.processes;
  std::erase_if(history.processes, [this](const ProcessTimes& shown) {
    return std::ranges::none_of(
        tree_, [&](const ProcessSample& each) { return each.pid == shown.pid && !each.ended; });
  });
  if (profile.main() != nullptr && profile.main()->seconds >= kLeastSeen) {
    history.verdict = DiagnoseProcesses(profile);
    const auto& prescriptions = history.verdict->prescriptions;
    history.advice = prescriptions.empty() ? "" : prescriptions.front().text;
  }
  if (!reader_.sees_calls()) {
    history.notes.emplace_back(
        "/proc hides what its threads wait for: run `stoker top` as its user or as root");
  }
  if (SecondsBetween(newer_.begin_ns, now) < kWindowSeconds) return;
  older_ = std::exchange(newer_, WatchedFrom(now));
}

}  // namespace stoker
