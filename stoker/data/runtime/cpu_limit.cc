#include "stoker/data/runtime/cpu_limit.h"

#include <algorithm>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/base/per_process.h"
#include "stoker/base/worker_group.h"

namespace stoker {
namespace {

struct Scopes {
  Mutex mutex;
  std::vector<const PipelineCpuScope*> living STOKER_GUARDED_BY(mutex);  // the newest last
};

Scopes& AllScopes() {
  static PerProcess<Scopes> scopes;
  return scopes.Get();
}

}  // namespace

PipelineCpuScope::PipelineCpuScope(int cpus) : cpus_(std::max(0, cpus)) {
  Scopes& scopes = AllScopes();
  const MutexLock lock(scopes.mutex);
  scopes.living.push_back(this);
}

PipelineCpuScope::~PipelineCpuScope() {
  Scopes& scopes = AllScopes();
  const MutexLock lock(scopes.mutex);
  std::erase(scopes.living, this);
}

int PipelineCpuLimit() {
  Scopes& scopes = AllScopes();
  const MutexLock lock(scopes.mutex);
  return scopes.living.empty() ? 0 : scopes.living.back()->cpus();
}

int PipelineCpus() {
  static PerProcess<int> cpus;
  const int available = cpus.Get(&AvailableCpus);  // it reads files
  const int most = PipelineCpuLimit();
  return most > 0 ? std::min(most, available) : available;
}

}  // namespace stoker
