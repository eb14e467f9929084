// What other processes do on CUDA devices, as a library inside them counts it
// (cuda_activity_library.cc).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/machine/activity/cuda_counters.h"

namespace stoker {

struct CudaActivity {
  int64_t pid = 0;
  CudaCounters counters;
};

// Returns the path of the library. Errors: kUnavailable if it was not built or installed.
Result<std::string> FindCudaActivityLibrary();

// Returns the variables of the environment with which a program that uses CUDA keeps its counters
// in `folder`, which must exist: names and values.
std::vector<std::pair<std::string, std::string>> CudaActivityVariables(const std::string& library,
                                                                       const std::string& folder);

// Returns whether the process's file is there; not so where somebody has removed it.
bool HasCudaActivity(const std::string& folder, int64_t pid);

// Returns the counters of each process that has begun to use CUDA. Files that are none of the
// library's, or that it has not finished to make, are left out.
std::vector<CudaActivity> ReadCudaActivity(const std::string& folder);

}  // namespace stoker
