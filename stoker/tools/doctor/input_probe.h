// Measures the input pipeline of a recipe alone, for the doctor.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"
#include "stoker/doctor/run_profile.h"
#include "stoker/tools/commands/pipeline_bench.h"

namespace stoker {

struct InputProbe {
  Runtime runtime;              // `stop` ends the measurement early, without an error
  double seconds = 5;           // measured
  int64_t warm_up = 1;          // batches that come first and are not counted
  double most_warm_up_s = 1e9;  // after which counting begins all the same
  BenchObserver observer = {};  // of the batches that count; may be empty
};

// Runs `dataset`, batches, again and again. `out` has what was measured also after an error of the
// pipeline, which is returned. `measured_warm`: whether the warm-up came to its end.
Status MeasureInput(const Dataset& dataset, const InputProbe& probe, InputProfile& out,
                    bool* measured_warm = nullptr, double* others = nullptr);

// Returns the runtime that a recipe asks for: train.feed_threads, and the memory of train.memory
// although the process has another budget by now. `recipe` need not have a section `train`.
Result<Runtime> RuntimeOf(const ConfigNode& recipe, const std::atomic<bool>* stop);

}  // namespace stoker
