// Finds batch sizes for a recipe: batch_search.h decides what is tried, batch_trials.h tries it.
// Needs no torch to be included.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/train/tune/batch_search.h"

namespace stoker {

struct BatchFindOptions {
  uint64_t memory_bytes = 0;  // 0: on the CPU 4/5 of MemoryLimitBytes(), on a device all it has
  int64_t most = 8192;        // largest size that is tried
  double seconds = 0.5;       // of timing for each
};

struct BatchFinding {
  std::vector<BatchTrial> trials;  // in the order tried
  int64_t largest = 0;             // 0: not even one sample fits
  std::optional<int64_t>
      samples;                  // that data.train has an epoch, where known: the most that is tried
  std::string noun = "sample";  // what they are (sample_noun.h)
  uint64_t memory_bytes = 0;    // the limit
  bool limited = true;          // false: only by what the device has
  std::string device;           // "cpu (AVX512)"
};

// Sizes are of one forward and backward pass: accumulation does not count. None is larger than the
// training data, of which nobody could make such a batch. Errors: those of MakePlan and of the
// steps; want of memory is none.
Result<BatchFinding> FindBatch(const Recipe& recipe, const BatchFindOptions& options);

// Tries `sizes` with a model on random input and random classes, without a recipe and without data.
//   model  with its options, such as a recipe's `model:` gives
struct ModelBenchOptions {
  ModelInput input;
  std::vector<int64_t> sizes;
  int threads = 0;  // 0: as many as CPUs
  std::string device = "auto";
  std::string memory_format = "auto";  // auto: channels last for images
  uint64_t memory_bytes = 0;           // as above
  double seconds = 2;
  bool forward_only = false;
};
struct ModelBench {
  std::vector<BatchTrial> trials;
  int64_t parameters = 0;
  std::string device;
  std::string memory_format;
  int threads = 0;
};
Result<ModelBench> BenchModel(const ModelRegistry::Configured& model,
                              const ModelBenchOptions& options);

}  // namespace stoker
