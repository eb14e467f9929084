// The text of a recipe, as it is read from a file.
#pragma once

#include <filesystem>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Errors: those of ReadTextFile. A named pipe, which nobody may ever write to, is refused
// (kFailedPrecondition), but for one that the shell hands on: <(...).
Result<std::string> ReadRecipeText(const std::filesystem::path& file);

}  // namespace stoker
