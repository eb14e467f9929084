// Finding the run that somebody means without naming it.
#pragma once

#include <filesystem>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// The newest directory in `parent` that NewRunPath (run/run_directory.h) named after
// `recipe_name`, by its name: of those that have not finished, where there are any. Errors:
// kNotFound.
Result<std::filesystem::path> FindNewestRun(const std::filesystem::path& parent,
                                            std::string_view recipe_name);

}  // namespace stoker
