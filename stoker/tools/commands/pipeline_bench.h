// Measuring an input pipeline with nothing behind it.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/profile.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"
#include "stoker/tools/commands/pipeline_explanation.h"

namespace stoker {

struct PipelineMeasurement {
  double load_ms = 0;         // reading the files that the sources keep in memory
  double first_batch_ms = 0;  // from then on until the first batch is there
  double seconds = 0;         // measured after the first batch
  int64_t samples = 0;        // in that time
  int64_t batches = 0;        // likewise
  double samples_per_s = 0;   // over all of it
  // Samples per second in slices of half a second: the least, the middle and the most.
  double slice_min = 0, slice_median = 0, slice_max = 0;
  double peak_rss_mb = 0;  // the process's largest resident size so far, in 10^6 bytes
  Profile profile;         // stages that the measurement added are marked
  PipelineExplanation explanation;
};

// How long a pipeline is measured.
struct BenchLength {
  double seconds = 0;             // > 0, where there are no epochs
  std::optional<int64_t> epochs;  // > 0: so many whole passes, the first batch included
};

// Runs `dataset` again and again, as training over epochs does. Errors: those of the pipeline;
// kFailedPrecondition where it gives nothing, or with `epochs` one batch in all; kInvalidArgument
// for epochs of a pipeline without an end.
Result<PipelineMeasurement> MeasurePipeline(const Dataset& dataset, const Runtime& runtime,
                                            const BenchLength& length);

// How many samples an element of `dataset` stands for: the product of the dimensions that its
// `batch` stages added.
int64_t SamplesIn(const Dataset& dataset, const Element& element);

// VmHWM of this process in 10^6 bytes; 0 where the system does not tell.
double PeakResidentMegabytes();

}  // namespace stoker
