// A sample with which a model can be tried.
#pragma once

#include "stoker/device/inputs.h"
#include "stoker/run/registry.h"

namespace stoker {

// Returns one sample of zeros of that shape, in CPU memory; of tokens a short sequence.
Inputs SampleOfZeros(const ModelInput& input);

}  // namespace stoker
