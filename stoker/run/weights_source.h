// Loads weights from a run, a file of PyTorch, or a safetensors file.
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
  std::string sample;                         // as in Weights (weights_file.h); empty if unknown
  std::string target = {};                    // likewise
  std::string learned = {};                   // likewise
  std::string source;                         // the path that they were read from
  std::vector<std::string> warnings;          // skipped damaged checkpoints
  std::vector<SafetensorsEntry> unread = {};  // as in Weights
};

// Returns the final weights of a run, or, if training has not finished, those of its newest whole
// checkpoint: the averages if weights are averaged. Errors: kNotFound if there are none.
Result<LoadedWeights> LoadRunWeights(const RunPaths& paths);

// Returns the weights in `path`: a run's directory, a .pt or .pth file, or a safetensors file,
// detected by content. Files are mapped, so values are read on first use. Errors: those of
// LoadRunWeights, PtFile and ReadWeights; kInvalidArgument for other files.
Result<LoadedWeights> LoadWeights(const std::filesystem::path& path);

}  // namespace stoker
