// weights.safetensors: the weights of a finished run, with a checksum, which the format itself has
// not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"

namespace stoker {

// Writes them atomically, as PyTorch's state dict would be stored: metadata "format": "pt", and a
// checksum beside it (formats/safetensors/safetensors_checksum.h).
Status WriteWeights(const std::string& path, std::span<const NamedArray> arrays);

// Errors: those of SafetensorsFile; kDataLoss where the checksum differs. A file without one, of
// another program, is taken as it is.
Result<std::vector<NamedArray>> ReadWeights(const std::string& path);

}  // namespace stoker
