#include "stoker/tools/doctor/thread_states.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "stoker/base/proc_text.h"

namespace stoker {
namespace {

constexpr auto kSampleTime = std::chrono::milliseconds(20);

// "R" in "12 (a name) R 1 ...": the name may hold anything.
char StateIn(const std::string& stat) {
  const size_t end = stat.rfind(')');
  return end == std::string::npos || end + 2 >= stat.size() ? '?' : stat[end + 2];
}

// Counts a sleeping thread by the system call that it sleeps in.
void CountSleeping(const std::filesystem::path& task, ThreadStates& sum) {
  const std::string line = ReadSmallText(task / "syscall");
  switch (std::strtol(line.c_str(), nullptr, 10)) {
    case SYS_futex: sum.lock += 1; break;
    case SYS_nanosleep:
    case SYS_clock_nanosleep: sum.sleep += 1; break;
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_openat: sum.disk += line.starts_with("running") ? 0 : 1; break;
    default: break;
  }
}

// "0.1 0.2 0.3 3/120 99": 3 threads of the machine are runnable.
double RunnableOfTheMachine() {
  const std::string line = ReadSmallText("/proc/loadavg");
  const size_t slash = line.find('/');
  const size_t begin = line.rfind(' ', slash);
  if (slash == std::string::npos || begin == std::string::npos) return 0;
  return std::strtod(line.c_str() + begin, nullptr);
}

void Sample(ThreadStates& sum) {
  const std::string self = std::to_string(::syscall(SYS_gettid));
  double runnable = 0;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (task.path().filename() == self) continue;
    switch (StateIn(ReadSmallText(task.path() / "stat"))) {
      case 'R': ++runnable; break;
      case 'D': ++sum.disk; break;
      case 'S': CountSleeping(task.path(), sum); break;
      default: break;
    }
  }
  sum.runnable += runnable;
  sum.others += std::max(0.0, RunnableOfTheMachine() - runnable - 1);  // this thread runs too
  ++sum.samples;
}

}  // namespace

Status ThreadSampler::Start() {
  ending_ = false;
  sum_ = ThreadStates();
  STOKER_ASSIGN_OR_RETURN(thread_, WorkerGroup::Start(1, "sampler", [this](int) { Run(); }));
  return OkStatus();
}

ThreadStates ThreadSampler::Stop() {
  ending_ = true;
  thread_.Join();
  ThreadStates mean = sum_;
  if (mean.samples == 0) return mean;
  const auto samples = static_cast<double>(mean.samples);
  for (double* each : {&mean.runnable, &mean.lock, &mean.disk, &mean.sleep, &mean.others})
    *each /= samples;
  return mean;
}

void ThreadSampler::Run() {
  while (!ending_) {
    Sample(sum_);
    std::this_thread::sleep_for(kSampleTime);
  }
}

}  // namespace stoker
