// weights.safetensors: the weights of a finished run, with a checksum, which the format itself has
// not.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"

namespace stoker {

struct Weights {
  std::vector<NamedArray> arrays;
  // What a sample was like that the model was trained on, as ModelInput::ToString says it; empty
  // where that is not known.
  std::string sample;
  // What it was evaluated by, or without evaluations trained on: "integers", one a sample, or
  // "numbers"; empty where that is not known. With the loss it says what the scores mean.
  std::string target = {};
  // What the file has of types that Stoker lacks, such as U32: they are no arrays here, which is an
  // error only of who needs one of them.
  std::vector<SafetensorsEntry> unread = {};
};

// Writes them atomically, as PyTorch's state dict would be stored: metadata "format": "pt", and
// beside it a checksum (formats/safetensors/safetensors_checksum.h), the "sample" and the "target".
Status WriteWeights(const std::string& path, const Weights& weights);

// Errors: those of SafetensorsFile, but for arrays of types that Stoker lacks; kDataLoss where the
// checksum differs. A file without one, of another program, is taken as it is.
Result<Weights> ReadWeights(const std::string& path);

}  // namespace stoker
