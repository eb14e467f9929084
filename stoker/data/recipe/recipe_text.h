// Reads the text of a recipe from a file.
#pragma once

#include <filesystem>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Errors: those of ReadTextFile. Refuses a named pipe (kFailedPrecondition), which may never get a
// writer, except the shell's <(...).
Result<std::string> ReadRecipeText(const std::filesystem::path& file);

}  // namespace stoker
