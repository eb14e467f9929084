// Finds the place in a recipe of errors found after parsing.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

// Returns the place of the first key that the text names by its path, such as data.eval or
// train.checkpoint.best, as deep as the recipe has it; nothing if it names none that the recipe
// has. Does not take file names for keys.
std::optional<ConfigLocation> PlaceOfKey(const ConfigNode& recipe, std::string_view text);

// Returns the place of `path`; the place of the recipe if it has no part of it.
ConfigLocation PlaceOfPath(const ConfigNode& recipe, std::string_view path);

// Returns the error with the place of such a key before each of its messages: "recipe.yaml:9:11:
// train.input: ...". Does not change a message that has a place already, or names no key.
Status WithPlace(const ConfigNode& recipe, const Status& status);

}  // namespace stoker
