// The permission with which a run was resumed although its recipe or data had changed
// (--allow-changes). A run directory stores it in allowed.json, because until the changed run
// stores a checkpoint the newest one is from before the change, and the run may be killed
// meanwhile. It is needed as long as there is a checkpoint from before: the run goes back to it if
// those after the change turn out to be damaged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "stoker/base/status.h"

namespace stoker {

struct AllowedChanges {
  int64_t checkpoint = -1;  // step of the checkpoint that the run continued from; those of later
                            // steps are of the changed run
  bool recipe = false;      // whether the recipe had changed

  // Returns whether the checkpoint of `step` is from before the change.
  bool Cover(int64_t step) const { return step <= checkpoint; }
};

// Reads the permission in the run directory `root`; nothing if changes were never allowed. Errors:
// kDataLoss if the file is malformed.
Result<std::optional<AllowedChanges>> ReadAllowedChanges(const std::filesystem::path& root);

// Replaces the file atomically.
Status WriteAllowedChanges(const std::filesystem::path& root, const AllowedChanges& allowed);

// Removes the file, if there is one, once it covers no checkpoint of the run.
//   steps  of all its checkpoints
Status ForgetAllowedChanges(const std::filesystem::path& root, std::span<const int64_t> steps);

}  // namespace stoker
