// Finds the run to resume if the user does not name one.
#pragma once

#include <filesystem>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Returns the newest directory in `parent`, by its name, that NewRunPath (run/run_directory.h)
// named after `recipe_name`: of unfinished runs, if there are any. Errors: kNotFound.
Result<std::filesystem::path> FindNewestRun(const std::filesystem::path& parent,
                                            std::string_view recipe_name);

}  // namespace stoker
