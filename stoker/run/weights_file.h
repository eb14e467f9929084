// weights.safetensors: the weights of a finished run, with a checksum, which the format itself
// lacks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"
#include "stoker/run/registry.h"

namespace stoker {

struct Weights {
  std::vector<NamedArray> arrays;
  // The shape of the samples that the model was trained on, as ModelInput::ToString; empty if
  // unknown.
  std::string sample;
  // The targets of its evaluations, or without evaluations of its training: "integers", one a
  // sample, or "numbers", of several "integers,numbers" (FormOf); empty if unknown. With the losses
  // it determines the meaning of the scores.
  std::string target = {};
  // Learned::ChecksumOfValues of what the run had learned; empty if nothing, or unknown.
  std::string learned = {};
  // The file's entries of types that Stoker lacks, such as U32, which are not in `arrays`. That is
  // an error only if one of them is needed.
  std::vector<SafetensorsEntry> unread = {};
};

// Returns the shape that Weights::sample says; nothing if it says none.
std::optional<ModelInput> SampleShapeIn(std::string_view sample);

// Writes them atomically, like PyTorch's state dict: metadata "format": "pt", and in addition a
// checksum (formats/safetensors/safetensors_checksum.h), the "sample" and the "target".
Status WriteWeights(const std::string& path, const Weights& weights);

// Errors: those of SafetensorsFile, except for arrays of types that Stoker lacks; kDataLoss if the
// checksum differs. Accepts a file of another program without a checksum.
Result<Weights> ReadWeights(const std::string& path);

}  // namespace stoker
