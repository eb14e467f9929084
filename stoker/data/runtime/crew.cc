#include "stoker/data/runtime/crew.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "stoker/base/clock.h"

namespace stoker {
namespace {

constexpr int64_t kSampleNs = 10'000'000;  // of work, from one look at the CPU time to the next
constexpr double kForgetFromNs = 500e6;    // of remembered work

}  // namespace

Status Crew::Start(int count, std::string_view name, const std::function<void()>& body) {
  std::erase_if(groups_, [](const Group& group) { return *group.running == 0; });
  const auto running = std::make_shared<std::atomic<int>>(count);
  STOKER_ASSIGN_OR_RETURN(WorkerGroup threads,
                          WorkerGroup::Start(count, name, [running, body](int) {
                            body();
                            --*running;
                          }));
  groups_.push_back({running, std::move(threads)});
  return OkStatus();
}

void Crew::Join() {
  for (Group& group : groups_) group.threads.Join();
}

int64_t ThreadCpuNs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

int64_t ThreadCpuWaitNs() {
  // Time on a CPU, time waiting for one, and how often; documented in the kernel's
  // Documentation/scheduler/sched-stats.rst.
  char text[96];
  const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = ::read(file, text, sizeof(text));
  ::close(file);
  const std::string_view line(text, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  const size_t second = line.find(' ');
  int64_t waited = 0;
  if (second != line.npos)
    std::from_chars(line.data() + second + 1, line.data() + line.size(), waited);
  return waited;
}

void CpuShare::Thread::Begin() { began_ns = NowNs(); }

bool CpuShare::Thread::Count() {
  const int64_t now = NowNs();
  worked_ns += now - std::exchange(began_ns, now);
  return worked_ns >= kSampleNs;
}

void CpuShare::Add(Thread& thread) {
  const int64_t cpu = ThreadCpuNs(), cpu_wait = ThreadCpuWaitNs();
  // Where threads are many and CPUs few, the wait for one is no sleep: more threads would not help.
  const int64_t computed = cpu - thread.cpu_ns + cpu_wait - thread.cpu_wait_ns;
  cpu_ns_ += static_cast<double>(std::min(computed, thread.worked_ns));
  worked_ns_ += static_cast<double>(thread.worked_ns);
  thread = {.began_ns = thread.began_ns, .worked_ns = 0, .cpu_ns = cpu, .cpu_wait_ns = cpu_wait};
  if (worked_ns_ < kForgetFromNs) return;
  cpu_ns_ /= 2;
  worked_ns_ /= 2;
}

double CpuShare::value() const { return worked_ns_ > 0 ? cpu_ns_ / worked_ns_ : 1; }

}  // namespace stoker
