// Makes changes in the text of a recipe, so that comments, order and form stay.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/doctor/recipe_change.h"

namespace stoker {

// Makes the change in the tree of a recipe. REQUIRES of kInsertStage: the list and its stages are
// there. Errors: those of SetByPath and ParseYaml.
Status ApplyChange(ConfigNode& recipe, const RecipeChange& change);

// Returns `text`, the YAML of a recipe, with the change; all other bytes stay. Values stand where
// the old ones stood; new keys come first in their section, new sections last. Both styles of YAML
// are written, {a: 1} and one key a line. The result is read again: it says what `text` says, but
// for the change.
//   name  of the file, for messages
// Errors: those of ParseYaml; kFailedPrecondition if the change cannot be made without writing the
// recipe anew (a value of several lines, an alias, a missing list), with the line.
Result<std::string> EditRecipe(std::string_view text, std::string_view name,
                               const RecipeChange& change);

}  // namespace stoker
