// Directories that are named by a step of training: step-00001200. Checkpoints and exports are
// such.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Returns "step-00001200".
std::string StepDirectoryName(int64_t step);

// Returns the step that such a name has; nothing for a name that StepDirectoryName does not give.
std::optional<int64_t> StepOfDirectory(std::string_view name);

// Returns the steps of all such names in `folder`, in rising order; none if there is no folder.
Result<std::vector<int64_t>> StepsIn(const std::filesystem::path& folder);

}  // namespace stoker
