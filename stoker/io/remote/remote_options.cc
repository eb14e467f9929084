#include "stoker/io/remote/remote_options.h"

#include <utility>

#include "stoker/base/mutex.h"

namespace stoker {
namespace {

struct Shared {
  Mutex mutex;
  std::shared_ptr<const RemoteOptions> options STOKER_GUARDED_BY(mutex) =
      std::make_shared<const RemoteOptions>();
};

Shared& SharedOptions() {
  static Shared shared;
  return shared;
}

}  // namespace

std::shared_ptr<const RemoteOptions> CurrentRemoteOptions() {
  Shared& shared = SharedOptions();
  const MutexLock lock(shared.mutex);
  return shared.options;
}

void SetRemoteOptions(RemoteOptions options) {
  auto made = std::make_shared<const RemoteOptions>(std::move(options));
  Shared& shared = SharedOptions();
  const MutexLock lock(shared.mutex);
  shared.options = std::move(made);
}

}  // namespace stoker
