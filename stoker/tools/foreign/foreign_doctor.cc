#include "stoker/tools/foreign/foreign_doctor.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/json_text.h"
#include "stoker/base/proc_text.h"
#include "stoker/base/worker_group.h"
#include "stoker/doctor/diagnose_processes.h"
#include "stoker/machine/processes/host_counters.h"
#include "stoker/machine/processes/process_reader.h"
#include "stoker/tools/foreign/accelerator_watch.h"
#include "stoker/tools/foreign/process_facts.h"
#include "stoker/tools/foreign/process_watch.h"
#include "stoker/tools/foreign/stack_recorder.h"
#include "stoker/tools/foreign/watched_command.h"
#include "stoker/tools/live/live_server.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// How often threads are looked at, and how often the tree; both less often where looking takes more
// than this share of a CPU.
constexpr double kThreadsEvery = 0.05, kTreeEvery = 0.4, kShare = 0.01;
constexpr double kMostPause = 2, kLongestUntilTree = 10;
// But in the beginning after this share of the time that has passed, because a program may be
// short.
constexpr double kMostPauseOfPassed = 0.2;
// A program that was interrupted may take so long to end by itself.
constexpr double kPatience = 10;
// Programs load and prepare first, which would hide what they do later: the first third of the time
// counts only for those that end soon after.
constexpr double kEarly = 1.0 / 3, kLeastLate = 2;
// Below this nothing can be said.
constexpr double kLeastSeconds = 0.3;

// How long to wait after something that took `cpu` seconds of a CPU when `passed` seconds had
// passed: between `least` and `most`.
double PauseAfter(double cpu, double passed, double least, double most) {
  most = std::clamp(kMostPauseOfPassed * passed, least, std::max(least, most));
  return std::clamp(cpu / kShare, least, most);
}

class ForeignDoctor {
 public:
  // REQUIRES: signals are noted, because what is made here may take long.
  explicit ForeignDoctor(const DoctorArguments& arguments)
      : arguments_(arguments),
        reader_(arguments.pid.value_or(::getpid()), /*with_top=*/arguments.pid.has_value()) {}

  Status Run() {
    profile_.host = ReadSmallText("/proc/sys/kernel/hostname");
    profile_.cpus = AvailableCpus();
    ::signal(SIGPIPE, SIG_IGN);  // the program must be ended
    // Before the program begins: an address that cannot be had must leave nothing running.
    STOKER_ASSIGN_OR_RETURN(
        live_, LiveServer::Start(arguments_.serve,
                                 {.command = "doctor", .recipe = Target(), .phase = "watching"}));
    if (Interrupted()) return ReportNothing();
    STOKER_RETURN_IF_ERROR(Begin());
    const HostCounters before = ReadHostCounters();
    const Stopwatch watch;
    Watch(watch);
    profile_.seconds = watch.ElapsedSeconds();
    profile_.interrupted = Interrupted();
    profile_.ended = Ended() && !profile_.interrupted;
    profile_.machine = HostTimesBetween(before, ReadHostCounters(), profile_.seconds);
    profile_.machine.other_runnable = looks_ > 0 ? others_ / static_cast<double>(looks_) : 0;
    profile_.processes = late_.Times();
    if (profile_.main() == nullptr || profile_.main()->seconds < kLeastLate)
      profile_.processes = watch_.Times();
    if (!profile_.processes.empty() && framework_.has_value()) profile_.framework = *framework_;
    ReadStacks();
    ReadGpus();
    EndCommand();
    NoteWhatIsMissing();
    return Report();
  }

 private:
  void Say(const std::string& line) const {
    PrintProgress(arguments_.json ? stderr : stdout, "doctor: " + line + "\n");
  }

  std::string Target() const {
    return arguments_.pid ? fmt::format("--pid {}", *arguments_.pid)
                          : "-- " + ShellWords(*arguments_.program);
  }

  Status Begin() {
    const std::string seconds = DurationText(arguments_.seconds);
    if (arguments_.pid) {
      const int64_t pid = *arguments_.pid;
      reader_.FindTree();
      tree_ = reader_.Read();
      if (pid == ::getpid()) return InvalidArgument("--pid {}: that is the doctor itself", pid);
      if (tree_.empty() || tree_.front().ended)
        return NotFound("--pid {}: there is no such process; `ps` lists them", pid);
      profile_.command = ShellWords(CommandLineOf(pid));
      Say(fmt::format("watches process {} ({}) from outside for {}; it goes on as it is", pid,
                      ShortCommand(), seconds));
      return OkStatus();
    }
    profile_.command = ShellWords(*arguments_.program);
    Say(fmt::format("runs {} and watches it from outside; after {} ends it and what it started",
                    ShortCommand(), seconds));
    std::vector<std::pair<std::string, std::string>> variables;
    if (arguments_.no_gpu_counters)
      gpus_.LeaveUncounted();
    else
      variables = gpus_.PrepareCounting();
    STOKER_ASSIGN_OR_RETURN(command_,
                            WatchedCommand::Start(*arguments_.program, arguments_.json, variables));
    return OkStatus();
  }

  // After a signal that came before the program was started.
  Status ReportNothing() {
    profile_.interrupted = true;
    profile_.command = arguments_.pid ? ShellWords(CommandLineOf(*arguments_.pid))
                                      : ShellWords(*arguments_.program);
    profile_.error = "a signal came before anything was watched";
    return Report();
  }

  std::string ShortCommand() const {
    constexpr size_t kMost = 60;
    return profile_.command.size() <= kMost ? profile_.command
                                            : profile_.command.substr(0, kMost) + "...";
  }

  void Watch(const Stopwatch& watch) {
    double tree_due = 0;
    while (!Interrupted() && watch.ElapsedSeconds() < arguments_.seconds) {
      const double begin = watch.ElapsedSeconds(), cpu = ThreadCpuSeconds();
      if (begin >= tree_due) {
        reader_.FindTree();
        // A program that has just begun starts others soon.
        const double least = begin < 1 ? kThreadsEvery : kTreeEvery;
        tree_due = begin + PauseAfter(ThreadCpuSeconds() - cpu, begin, least, kLongestUntilTree);
      }
      const double before = ThreadCpuSeconds();
      Look(begin);
      const double pause =
          PauseAfter(ThreadCpuSeconds() - before, begin, kThreadsEvery, kMostPause);
      gpus_.Look(begin, IsLate(begin));  // which has pauses of its own
      RecordStacks(begin);
      if (command_) command_->Reap(Helpers());
      if (Ended()) {
        reader_.FindTree();  // what it left behind belongs to this process now
        tree_ = reader_.Read();
        if (Ended()) return;
      }
      Sleep(pause, watch);
    }
  }

  bool IsLate(double now) const { return now >= kEarly * arguments_.seconds; }

  void Look(double now) {
    tree_ = reader_.Read();
    const int64_t now_ns = NowNs();
    watch_.Add(tree_, now_ns);
    if (IsLate(now)) late_.Add(tree_, now_ns);
    double runnable = 0;
    for (const ProcessSample& each : tree_) {
      runnable += static_cast<double>(
          std::ranges::count(each.threads, ThreadState::kRunning, &ThreadSample::state));
      if (!watch_.WantsCommand(each)) continue;
      watch_.SetCommand(each.pid, CommandLineOf(each.pid));
    }
    for (const ProcessSample& each : tree_) {
      if (late_.WantsCommand(each)) late_.SetCommand(each.pid, CommandLineOf(each.pid));
    }
    FindFramework();
    others_ += std::max(0.0, ReadRunnable() - runnable - 1);  // this process runs too
    ++looks_;
  }

  // Libraries are loaded in the first seconds; the process of which it matters is not known yet.
  void FindFramework() {
    constexpr int64_t kEvery = 20;
    if (framework_ || looks_ % kEvery != kEvery / 2) return;
    for (const ProcessSample& each : tree_) {
      const Framework found = FrameworkOf(each.pid);
      if (found != Framework::kUnknown) framework_ = found;
    }
  }

  // Once there is an interpreter. One that has just begun cannot be read yet, so py-spy may have to
  // be started again.
  void RecordStacks(double now) {
    constexpr int kMostTries = 10;
    if (!no_stacks_.empty() || tries_ == kMostTries || now < stacks_due_) return;
    if (recorder_.started() && !(recorder_.HasEnded() && tries_ < kMostTries)) return;
    const bool python = std::ranges::any_of(tree_, [](const ProcessSample& each) {
      return !each.ended && each.name.starts_with("python");
    });
    if (!python) return;
    const int64_t top = command_ ? command_->pid() : *arguments_.pid;
    if (const Status started = recorder_.Start(top); !started.ok()) {
      no_stacks_ =
          started.code() == StatusCode::kNotFound
              ? "py-spy is not installed, so no line of the script is named: pip install py-spy"
              : started.message();
      return;
    }
    reader_.Exclude(recorder_.pid());
    ++tries_;
    stacks_due_ = now + 0.3 * tries_;
  }

  std::vector<pid_t> Helpers() const {
    return recorder_.pid() == 0 ? std::vector<pid_t>() : std::vector<pid_t>{recorder_.pid()};
  }

  void ReadStacks() {
    const ProcessTimes* const main = profile_.main();
    if (!no_stacks_.empty()) profile_.notes.push_back(no_stacks_);
    if (!recorder_.started()) return;
    Result<PythonStacks> stacks = recorder_.Stop();
    if (!stacks.ok()) {
      profile_.notes.push_back(stacks.status().message());
      return;
    }
    if (main == nullptr) return;
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::current_path(error);
    DisownInstalledPackages(*stacks);
    AddSourceLines(folder, *stacks);
    profile_.loader = FindLoader(folder, *stacks);
    profile_.python = ViewOf(*stacks, main->pid);
  }

  void ReadGpus() {
    profile_.gpu = gpus_.Gpu();
    if (profile_.main() == nullptr) return;
    profile_.cuda = gpus_.CudaOf(profile_.main()->pid);
    std::ranges::move(gpus_.Notes(profile_.main()->pid), std::back_inserter(profile_.notes));
    if (profile_.gpu && arguments_.pid) {
      profile_.notes.emplace_back(
          "kernels are counted only in a program that the doctor starts: stoker doctor -- PROGRAM");
    }
  }

  bool Ended() const {
    const bool nothing_left =
        std::ranges::all_of(tree_, [](const ProcessSample& each) { return each.ended; });
    return nothing_left && (!command_ || command_->exit_code());
  }

  // In pieces, so that a signal is heeded and an end is seen.
  void Sleep(double seconds, const Stopwatch& watch) {
    const double end = std::min(watch.ElapsedSeconds() + seconds, arguments_.seconds);
    while (!Interrupted() && watch.ElapsedSeconds() < end) {
      const double left = std::clamp(end - watch.ElapsedSeconds(), 0.0, kThreadsEvery);
      std::this_thread::sleep_for(std::chrono::duration<double>(left));
    }
  }

  void EndCommand() {
    if (!command_) return;
    const auto left = [this] {
      reader_.FindTree();
      std::vector<int64_t> pids;
      for (const ProcessSample& each : reader_.Read()) {
        if (!each.ended) pids.push_back(each.pid);
      }
      return pids;
    };
    if (profile_.interrupted) command_->PassOn(InterruptSignal());
    if (command_->exit_code() && !left().empty())
      profile_.notes.emplace_back("the command ended, and what it left running was watched on");
    const bool by_itself = command_->exit_code().has_value();
    command_->End(left, profile_.interrupted ? kPatience : 0, Helpers());
    if (by_itself || profile_.interrupted) profile_.exit_code = command_->exit_code();
  }

  void NoteWhatIsMissing() {
    if (!reader_.sees_calls()) {
      profile_.notes.emplace_back(
          "/proc hides what threads of this process wait for: run the doctor as its user or as "
          "root");
    }
    if (!profile_.machine.cpu_pressure)
      profile_.notes.emplace_back("this kernel counts no pressure (/proc/pressure)");
    if (profile_.main() != nullptr && profile_.main()->seconds >= kLeastSeconds) return;
    profile_.error = fmt::format(
        "the program was seen for only {:.2g} s{}, so nothing can be said; watch one that runs "
        "longer",
        profile_.main() == nullptr ? 0.0 : profile_.main()->seconds,
        profile_.exit_code ? fmt::format(" and ended with exit code {}", *profile_.exit_code) : "");
    profile_.processes.clear();
  }

  Status Report() {
    const Diagnosis diagnosis = DiagnoseProcesses(profile_);
    if (arguments_.json) {
      Json json = diagnosis.ToJson();
      json["profile"] = profile_.ToJson();
      STOKER_RETURN_IF_ERROR(PrintResult(DumpJson(json) + "\n"));
    } else {
      STOKER_RETURN_IF_ERROR(PrintResult(ForeignDoctorText(profile_, diagnosis)));
    }
    if (Interrupted()) return Cancelled("stopped; the report is of what was measured until then");
    if (!profile_.error.empty()) return FailedPrecondition("{}", profile_.error);
    return OkStatus();
  }

  const DoctorArguments& arguments_;
  std::unique_ptr<LiveServer> live_;  // null unless it was asked for
  ProcessReader reader_;
  ProcessWatch watch_, late_;
  AcceleratorWatch gpus_;
  ProcessProfile profile_;
  std::optional<WatchedCommand> command_;
  StackRecorder recorder_;
  std::string no_stacks_;  // why there are none; empty: there may be some
  int tries_ = 0;          // to record them
  double stacks_due_ = 0;
  std::vector<ProcessSample> tree_;  // at the last look
  std::optional<Framework> framework_;
  double others_ = 0;  // runnable threads of other programs, summed over looks
  int64_t looks_ = 0;
};

}  // namespace

Status RunForeignDoctor(const DoctorArguments& arguments) {
  NoteInterrupt();
  return ForeignDoctor(arguments).Run();
}

}  // namespace stoker
