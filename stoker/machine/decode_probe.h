// How fast Stoker's decoders are.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/machine/roofs.h"

namespace stoker {

// Returns a JPEG of 500 x 375 pixels (the usual size of a photograph of ImageNet) with edges,
// gradients and noise: about 90 kB. Always the same bytes.
Result<std::string> MakePhotograph();

// Decodes it whole again and again, on so many threads, for so long.
// Errors: kCancelled if the thread was asked to stop; those of starting threads.
Result<DecodeRoofs> MeasureDecoding(double seconds, int threads);

}  // namespace stoker
