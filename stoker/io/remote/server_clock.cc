#include "stoker/io/remote/server_clock.h"

#include <ctime>
#include <map>

#include "stoker/base/mutex.h"
#include "stoker/base/per_process.h"

namespace stoker {
namespace {

struct Offsets {
  Mutex mutex;
  std::map<std::string, int64_t> of STOKER_GUARDED_BY(mutex);  // to this machine's clock, seconds
};

Offsets& Known() {
  static PerProcess<Offsets> offsets;
  return offsets.Get();
}

}  // namespace

int64_t ServerTime(const std::string& server) {
  Offsets& known = Known();
  const MutexLock lock(known.mutex);
  const auto found = known.of.find(server);
  return std::time(nullptr) + (found == known.of.end() ? 0 : found->second);
}

void LearnServerTime(const std::string& server, int64_t date) {
  Offsets& known = Known();
  const MutexLock lock(known.mutex);
  known.of[server] = date - std::time(nullptr);
}

}  // namespace stoker
