#include "stoker/train/loop/background_task.h"

#include <memory>
#include <utility>

#include "stoker/device/torch_error.h"

namespace stoker {
void BackgroundTask::Do(const std::function<Status()>& work) {
  pending_ = true;
  status_ = CatchTorchErrors(work);
  done_ = true;
}

void BackgroundTask::Begin(std::string_view name, std::function<Status()> work) {
  pending_ = true;
  done_ = false;
  const auto shared = std::make_shared<const std::function<Status()>>(std::move(work));
  Result<WorkerGroup> thread = WorkerGroup::Start(1, name, [this, shared](int) {
    status_ = CatchTorchErrors(*shared);
    done_ = true;
  });
  if (!thread.ok()) return Do(*shared);
  thread_ = *std::move(thread);
}

Status BackgroundTask::Take() {
  thread_.Join();
  pending_ = false;
  return std::exchange(status_, OkStatus());
}

}  // namespace stoker
