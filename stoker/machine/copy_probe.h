// How fast memory is copied to a GPU.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/machine/roofs.h"

namespace stoker {

// Copies 64 MiB again and again from pinned and from ordinary memory to each GPU, by the functions
// of NVIDIA's driver (libcuda), which needs no CUDA toolkit. Takes up to `seconds` for all GPUs,
// and some tenths of a second more for each, whose context it makes.
//   file  the library
// Errors: kUnavailable, in one line: there is no driver, it is too old, or it has no GPU;
// kCancelled if the thread was asked to stop.
Result<std::vector<CopyRoofs>> MeasureCopies(double seconds,
                                             const std::string& file = "libcuda.so.1");

}  // namespace stoker
