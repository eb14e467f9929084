// Refuses to write files that a command reads, or that belong to a run.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/data/recipe/recipe.h"

namespace stoker {

// Returns kInvalidArgument if `path` names a file of a training run's directory, existing or not:
// its recipe, its metrics, its final weights, anything in its checkpoints. Follows links. `option`
// named the path: "--to".
Status CheckIsOfNoRun(std::string_view option, const std::string& path);

// Returns kInvalidArgument if an option of `command` for a file to write (--to, --grid,
// --trace, --flame, --folded) names standard output (-), a device or a pipe, a file of
// CheckIsOfNoRun, a file that another argument of the same command line names, or one that the
// recipe of RECIPE, RUN or FILE names or its pipelines read, under any name or link. Program calls
// this before every command. Opens the pipelines only if a file of that name exists; the command
// itself reports their errors.
Status CheckOutputs(const CLI::App& command);

// Returns whether two paths lead to one file, existing or not. Follows links.
bool AreOneFile(const std::string& one, const std::string& other);

// Returns whether the file `path`, existing or not, would be in `folder` or a folder below it.
bool IsInside(const std::string& path, const std::string& folder);

// Returns kInvalidArgument if `path` is a file that data.train reads, or that a value in the
// section of `data` names. For `vocabulary`, which may write files that the rest of its recipe
// names.
Status CheckIsNotRead(std::string_view option, const std::string& path, const DataRecipe& data);

}  // namespace stoker
