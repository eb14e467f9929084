#include "stoker/data/runtime/crew.h"

#include <time.h>

#include <algorithm>
#include <utility>

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

void CpuShare::Add(int64_t ns, Thread& thread) {
  thread.worked_ns += ns;
  if (thread.worked_ns < kSampleNs) return;
  const int64_t cpu = ThreadCpuNs();
  cpu_ns_ += static_cast<double>(std::min(cpu - thread.cpu_ns, thread.worked_ns));
  worked_ns_ += static_cast<double>(thread.worked_ns);
  thread = {.worked_ns = 0, .cpu_ns = cpu};
  if (worked_ns_ < kForgetFromNs) return;
  cpu_ns_ /= 2;
  worked_ns_ /= 2;
}

double CpuShare::value() const { return worked_ns_ > 0 ? cpu_ns_ / worked_ns_ : 1; }

}  // namespace stoker
