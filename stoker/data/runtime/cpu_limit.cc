#include "stoker/data/runtime/cpu_limit.h"

#include <algorithm>
#include <atomic>

#include "stoker/base/worker_group.h"

namespace stoker {
namespace {

std::atomic<int> limit = 0;

}  // namespace

void LimitPipelineCpus(int cpus) { limit = std::max(0, cpus); }

int PipelineCpuLimit() { return limit; }

int PipelineCpus() {
  static const int available = AvailableCpus();  // it reads files
  const int most = limit;
  return most > 0 ? std::min(most, available) : available;
}

}  // namespace stoker
