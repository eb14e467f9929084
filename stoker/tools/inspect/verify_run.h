// Verifies the files of a training's run (run/run_directory.h), which are no format of their own.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

struct VerifiedRunFile {
  std::string_view kind;  // "checkpoint", "learned", "metrics" or "json"
  Status status;          // kDataLoss: damaged
};

// Compares a file of a checkpoint with the manifest beside it, what stages have learned with its
// checksum, and metrics.jsonl with the size that the newest checkpoint says it had; reads each line
// of it, and the JSON files. Returns nothing for every other file.
std::optional<VerifiedRunFile> VerifyRunFile(const std::filesystem::path& file);

}  // namespace stoker
