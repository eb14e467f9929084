// Weights wherever they are kept: in a run, by PyTorch, in a safetensors file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"
#include "stoker/run/run_directory.h"

namespace stoker {

struct LoadedWeights {
  std::vector<NamedArray> arrays;
  std::string sample;                 // as in Weights (weights_file.h); empty where not known
  std::string target = {};            // likewise
  std::string source;                 // the path that they were read from
  std::vector<std::string> warnings;  // damaged checkpoints that were passed over
  std::vector<SafetensorsEntry> unread = {};  // as in Weights
};

// The final weights of a run, or where training has not finished those of its newest whole
// checkpoint: the averages where weights are averaged. Errors: kNotFound where there are none.
Result<LoadedWeights> LoadRunWeights(const RunPaths& paths);

// Those of `path`: a run's directory, a .pt or .pth file, or a safetensors file, told apart by what
// they hold. Files are mapped, so nothing is read before it is used. Errors: those of
// LoadRunWeights, PtFile and ReadWeights; kInvalidArgument for other files.
Result<LoadedWeights> LoadWeights(const std::filesystem::path& path);

}  // namespace stoker
