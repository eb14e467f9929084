// Batches of a recipe's pipeline as tensors, for runs and for finders, which train without a run.
#pragma once

#include <memory>

#include "stoker/base/status.h"
#include "stoker/data/core/runtime.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/feeder.h"
#include "stoker/run/recipe.h"
#include "stoker/train/step/learner.h"

namespace stoker {

struct TrainingPlan;

// Returns the default CPUs that making batches may keep busy: all of them, or a quarter (at least
// one) if the CPU computes the steps too.
int UsualFeedCpus(const c10::Device& device);

// Returns the runtime that makes batches. A recipe's train.feed_threads fixes its number of
// threads. Otherwise the number adapts to demand within the CPUs of the PipelineCpuScope
// (data/runtime/cpu_limit.h) that the caller keeps while the pipeline is read; threads that wait
// for a disk or a server are additional.
Runtime FeedRuntime(const TrainOptions& options);

// Returns those CPUs: `chosen`, or UsualFeedCpus if that is 0. 0, no limit, if the recipe fixes the
// number of threads.
int FeedCpus(const TrainOptions& options, const c10::Device& device, int chosen = 0);

// Makes the Feeder normalise the inputs that are `field`, whose stage the pipeline does without.
void NormalizeField(const std::string& field, const std::vector<ShiftScale>& normalize,
                    FeederOptions& feed);

// Returns the options of a Feeder for the elements of `batches`.
FeederOptions FeedOptions(const TrainOptions& options, const Dataset& batches,
                          const c10::Device& device, MemoryFormat memory_format);

// Opens the device that a recipe names, with its setting of tf32, for the whole process. Call it
// before other threads use torch. Errors: those of OpenDevice.
Result<OpenedDevice> OpenDeviceFor(const TrainOptions& options);

// The device and settings of a finder: the recipe's device, threads (calls at::set_num_threads),
// layout and precision, by default contiguous and float32. Errors: those of OpenDeviceFor.
struct FinderPlace {
  OpenedDevice device;
  Placement placement;
};
Result<FinderPlace> PlaceFor(const TrainOptions& options);

// Opens `batches`, which has the fields of recipe.data.train, with the recipe's seed. Its threads
// are those of FeedRuntime.
Result<std::unique_ptr<Feeder>> OpenFeed(const Recipe& recipe, const Dataset& batches,
                                         const Placement& placement, const TrainingPlan& plan);

// Returns the checks of `batches`, whose sample names their messages have.
Result<BatchChecks> ChecksOf(const Recipe& recipe, const Dataset& batches,
                             const TrainingPlan& plan);

// Returns the first batch of data.train. Errors: also kInvalidArgument if there is none.
Result<TensorBatch> FirstBatchOf(const Recipe& recipe, const Placement& placement,
                                 BatchChecks checks);

}  // namespace stoker
