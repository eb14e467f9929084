// A recipe as the command line names it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

// The recipe in the file `path` with each of `assignments` ("train.epochs=1") made in turn, and its
// sections' names checked. What the sections hold is not checked yet.
Result<ConfigNode> ReadRecipe(const std::string& path, const std::vector<std::string>& assignments);

// The folder that holds `path`: what a relative data.root in the recipe is relative to.
std::filesystem::path RecipeFolder(const std::string& path);

}  // namespace stoker
