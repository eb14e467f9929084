// Batches of a recipe's pipeline as tensors: how runs are fed, and what trains without being a run,
// the finders.
#pragma once

#include <memory>

#include "stoker/base/status.h"
#include "stoker/data/core/runtime.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/feeder.h"
#include "stoker/run/recipe.h"
#include "stoker/train/step/learner.h"

namespace stoker {

// The CPUs that making batches may keep busy where nothing else is chosen: all of them, or a
// quarter (at least one) where the CPU computes the steps too.
int UsualFeedCpus(const c10::Device& device);

// The threads that make batches. A recipe's train.feed_threads fixes their number. Otherwise it
// follows demand within the CPUs of the PipelineCpuScope (data/runtime/cpu_limit.h) that the caller
// keeps while the pipeline is read; threads that wait for a disk or a server are added beyond
// these.
Runtime FeedRuntime(const TrainOptions& options);

// Those CPUs: `chosen`, or where that is 0 UsualFeedCpus. 0, no limit, where the recipe fixes the
// number of threads.
int FeedCpus(const TrainOptions& options, const c10::Device& device, int chosen = 0);

// What a Feeder makes of the elements of `batches`.
FeederOptions FeedOptions(const TrainOptions& options, const Dataset& batches,
                          const c10::Device& device, MemoryFormat memory_format);

// The device that a recipe names, opened as all that compute by it do: tensor cores round where it
// says so (tf32), for the whole process. Not before another thread uses torch. Errors: those of
// OpenDevice.
Result<OpenedDevice> OpenDeviceFor(const TrainOptions& options);

// Where and how a finder computes: on the recipe's device, with its threads (at::set_num_threads is
// called), its layout and precision, the contiguous one and float32 where those are open. Errors:
// those of OpenDeviceFor.
struct FinderPlace {
  OpenedDevice device;
  Placement placement;
};
Result<FinderPlace> PlaceFor(const TrainOptions& options);

// Opens `batches`, which has the fields of recipe.data.train, with the recipe's seed. Its threads
// are those of FeedRuntime.
//   outputs  of the model, as TargetCheckOf takes them
Result<std::unique_ptr<Feeder>> OpenFeed(const Recipe& recipe, const Dataset& batches,
                                         const Placement& placement,
                                         std::optional<int64_t> outputs);

// The first batch of data.train. Errors: also kInvalidArgument where there is none.
Result<TensorBatch> FirstBatchOf(const Recipe& recipe, const Placement& placement,
                                 std::optional<int64_t> outputs);

// The same with another check of the targets, and without a limit on the CPUs that make it.
//   check_target  as FeederOptions has it; none checks nothing
Result<TensorBatch> FirstBatchOf(const Recipe& recipe, const Placement& placement,
                                 TargetCheck check_target);

}  // namespace stoker
