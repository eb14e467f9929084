#include "stoker/io/remote/remote_options.h"

#include <mutex>
#include <utility>

namespace stoker {
namespace {

struct Shared {
  std::mutex mutex;
  std::shared_ptr<const RemoteOptions> options = std::make_shared<const RemoteOptions>();
};

Shared& SharedOptions() {
  static Shared shared;
  return shared;
}

}  // namespace

std::shared_ptr<const RemoteOptions> CurrentRemoteOptions() {
  Shared& shared = SharedOptions();
  const std::lock_guard lock(shared.mutex);
  return shared.options;
}

void SetRemoteOptions(RemoteOptions options) {
  auto made = std::make_shared<const RemoteOptions>(std::move(options));
  Shared& shared = SharedOptions();
  const std::lock_guard lock(shared.mutex);
  shared.options = std::move(made);
}

}  // namespace stoker
