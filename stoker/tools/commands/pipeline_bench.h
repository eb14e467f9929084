// Measures an input pipeline without a consumer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "stoker/base/profile.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/tools/commands/pipeline_explanation.h"
#include "stoker/tools/live/work_watch.h"

namespace stoker {

struct PipelineMeasurement {
  double load_ms = 0;         // reading the files that the sources keep in memory
  double first_batch_ms = 0;  // from then on until the first batch
  double seconds = 0;         // measured after the first batch
  int64_t samples = 0;        // in that time
  int64_t batches = 0;        // likewise
  double samples_per_s = 0;   // over all of it
  // Samples per second in slices of half a second: minimum, median and maximum.
  double slice_min = 0, slice_median = 0, slice_max = 0;
  double peak_rss_mb = 0;  // the process's largest resident size so far, in 10^6 bytes
  Profile profile;         // stages that the measurement added are marked
  PipelineExplanation explanation;
};

// Called after each batch that counts, with the samples and batches so far.
using BenchObserver =
    std::function<void(int64_t samples, int64_t batches, const Iterator& iterator)>;

// Returns an observer that writes the figures and the counters of the stages on the board of
// `watch`, which it borrows.
BenchObserver ShowPasses(WorkWatch& watch);

// How long a pipeline is measured.
struct BenchLength {
  double seconds = 0;             // > 0, if there are no epochs
  std::optional<int64_t> epochs;  // > 0: so many whole passes, the first batch included
  BenchObserver observer = {};    // may be empty
};

// Runs `dataset` repeatedly, like training over epochs. Errors: those of the pipeline;
// kFailedPrecondition if it is empty, or has one batch in all with `epochs`; kInvalidArgument for
// epochs of an endless pipeline.
Result<PipelineMeasurement> MeasurePipeline(const Dataset& dataset, const Runtime& runtime,
                                            const BenchLength& length);

// Returns how many samples an element of `dataset` contains: the product of the dimensions that its
// `batch` stages added.
int64_t SamplesIn(const Dataset& dataset, const Element& element);

// Returns VmHWM of this process in 10^6 bytes; 0 if unknown.
double PeakResidentMegabytes();

}  // namespace stoker
