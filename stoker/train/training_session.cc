#include "stoker/train/training_session.h"

#include <algorithm>

#include "stoker/base/worker_group.h"
#include "stoker/data/runtime.h"
#include "stoker/data/transforms/layout.h"

namespace stoker {

Runtime FeedRuntime(const TrainingSession& session) {
  if (const auto& threads = session.options().feed_threads) {
    return Runtime::Threaded(static_cast<int>(*threads));
  }
  const int cpus = AvailableCpus();
  return Runtime::Threaded(session.setup.device.is_cpu() ? std::max(1, cpus / 4) : cpus);
}

FeederOptions FeedOptions(const TrainingSession& session, const Dataset& batches) {
  const TrainOptions& options = session.options();
  return {.input = options.input,
          .target = options.target,
          .device = session.setup.device.device,
          .channels_last = HasChannelsLast(batches, options.input),
          .memory_format = ToTorch(session.choices.memory_format)};
}

Status Broken(const TrainingSession& session, const Status& status) {
  if (status.ok()) return status;
  const TrainingPlan& plan = session.plan();
  const int64_t step = std::max<int64_t>(session.progress.step, 1);
  const std::string left = session.last_checkpoint < 0
                               ? "there is no checkpoint yet"
                               : fmt::format("the last good checkpoint is {}",
                                             session.store.PathOf(session.last_checkpoint));
  return {status.code(),
          fmt::format(
              "epoch {} of {}, {}. Training has stopped; {}. A lower learning rate (now {:.3g}) "
              "or cleaner data may help",
              plan.EpochOf(step), plan.EpochOf(plan.total_steps()), status.message(), left,
              session.schedule->At(step - 1).lr)};
}

}  // namespace stoker
