// The permission with which a run was resumed although its recipe or data had changed
// (--allow-changes). A run directory keeps it in allowed.json, because the newest checkpoint is of
// the run before the change until another is stored, and the run may be killed before that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "stoker/base/status.h"

namespace stoker {

struct AllowedChanges {
  int64_t checkpoint = -1;  // step of the checkpoint that the run went on from; those of later
                            // steps are of the changed run
  bool recipe = false;      // whether the recipe was among what had changed

  // Whether the checkpoint of `step` is of the run before the change.
  bool Cover(int64_t step) const { return step <= checkpoint; }
};

// What the run directory `root` keeps; nothing where changes were never allowed. Errors: kDataLoss
// where the file is not as WriteAllowedChanges writes it.
Result<std::optional<AllowedChanges>> ReadAllowedChanges(const std::filesystem::path& root);

// Replaces the file atomically.
Status WriteAllowedChanges(const std::filesystem::path& root, const AllowedChanges& allowed);

}  // namespace stoker
