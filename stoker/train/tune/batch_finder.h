// Finds batch sizes for a recipe: batch_search.h decides which to try, batch_trials.h tries them.
// This header does not include torch.
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
  uint64_t memory_bytes = 0;  // 0: 4/5 of MemoryLimitBytes() on the CPU, all memory on a device
  int64_t most = 8192;        // largest size to try
  double seconds = 0.5;       // of timing for each
};

struct BatchFinding {
  std::vector<BatchTrial> trials;  // in the order tried
  int64_t largest = 0;             // 0: not even one sample fits
  std::optional<int64_t> samples;  // in an epoch of data.train, if known: the largest size to try
  std::string noun = "sample";     // their kind (sample_noun.h)
  uint64_t memory_bytes = 0;       // the limit
  bool limited = true;             // false: only by the device's memory
  std::string device;              // "cpu (AVX512)"
  std::string key;                 // of the recipe, that sets the size: "data.train.batch.size"
};

// Sizes are of one forward and backward pass, without accumulation, and never larger than the
// training data. Errors: those of MakePlan and of the steps, except lack of memory.
Result<BatchFinding> FindBatch(const Recipe& recipe, const BatchFindOptions& options);

// Tries `sizes` with a model on random input and random classes, without recipe and data.
//   model  with its options, as in a recipe's `model:`
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
  std::string noun = "sample";  // what messages call a sample (sample_noun.h)
  std::string device;
  std::string memory_format;
  int threads = 0;
};
Result<ModelBench> BenchModel(const ModelRegistry::Configured& model,
                              const ModelBenchOptions& options);

}  // namespace stoker
