// The GPUs of this machine, by NVIDIA's management library (NVML).
#pragma once

#include <string>

#include "stoker/machine/facts.h"

namespace stoker {

// Loads the library `file` (dlopen(3)), asks it and unloads it again. Needs no CUDA. A library that
// is missing, too old or has no driver below it is no error: `none` says in one line why there are
// no facts. Takes some 50 ms where there are GPUs.
Gpus ReadGpus(const std::string& file = "libnvidia-ml.so.1");

}  // namespace stoker
