// The same changes in the words of each framework.
#include <fmt/format.h>

#include "stoker/doctor/process_finding_internal.h"

namespace stoker {

std::string Percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::string WordsForWorkers(Framework framework, int64_t workers) {
  switch (framework) {
    case Framework::kPyTorch:
      return fmt::format("DataLoader(num_workers={}, persistent_workers=True, prefetch_factor=4)",
                         workers);
    case Framework::kTensorFlow:
      return "dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)";
    case Framework::kJax:
      return fmt::format("load batches ahead in {} processes (grain: worker_count={})", workers,
                         workers);
    case Framework::kUnknown: break;
  }
  return fmt::format("load batches ahead, in {} processes", workers);
}

std::string WordsForThreads(Framework framework, int64_t threads) {
  switch (framework) {
    case Framework::kPyTorch: return fmt::format("torch.set_num_threads({})", threads);
    case Framework::kTensorFlow:
      return fmt::format("tf.config.threading.set_intra_op_parallelism_threads({})", threads);
    case Framework::kJax:
    case Framework::kUnknown: break;
  }
  return fmt::format("OMP_NUM_THREADS={} in the environment", threads);
}

}  // namespace stoker
