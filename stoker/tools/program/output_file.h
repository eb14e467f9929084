// Which files a command may write: none that it reads, and none of those that a run keeps.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/data/recipe/recipe.h"

namespace stoker {

// kInvalidArgument where `path` names a file that a training run keeps in its directory, be it
// there already or not: its recipe, its metrics, its final weights, anything in its checkpoints.
// Links are followed. `option` named the path: "--to".
Status CheckIsOfNoRun(std::string_view option, const std::string& path);

// kInvalidArgument where an option of `command` that names a file to write (--to, --grid) names a
// device or a pipe, or one of CheckIsOfNoRun, one that another argument of the same command line
// names, or one that the recipe of RECIPE, RUN or FILE names or its pipelines read, by whatever
// name or link. Program asks this for every command before it begins. The pipelines are opened only
// where a file of that name is there; what is wrong with them the command itself says.
Status CheckOutputs(const CLI::App& command);

// kInvalidArgument where `path` is a file that data.train reads, or that a value in the section of
// `data` names. For `vocabulary`, which may write what the rest of its recipe names.
Status CheckIsNotRead(std::string_view option, const std::string& path, const DataRecipe& data);

}  // namespace stoker
