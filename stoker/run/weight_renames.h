// The rules of train.init_from.rename.
#pragma once

#include <string>
#include <utility>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Parses a rule "OLD=NEW": names in the file that begin with OLD begin with NEW in the model.
// Errors: kInvalidArgument without '='.
Result<std::pair<std::string, std::string>> ParseRename(const std::string& rule);

// Errors: kInvalidArgument for each rule of `rename` that is not OLD=NEW (base/problems.h).
Status CheckRenames(const InitFromOptions& options);

}  // namespace stoker
