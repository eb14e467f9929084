// Where in a recipe stands what was found to be wrong after it was parsed.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

// The place of the first key that the text speaks of by its path, such as data.eval or
// train.checkpoint.best, as deep as the recipe has it. Nothing if it names none, or none that
// the recipe has. Names of files are not taken for keys.
std::optional<ConfigLocation> PlaceOfKey(const ConfigNode& recipe, std::string_view text);

// The same of `path` alone; the place of the recipe where it has nothing of it.
ConfigLocation PlaceOfPath(const ConfigNode& recipe, std::string_view path);

// The error with the place of such a key at the front of each of its messages:
// "recipe.yaml:9:11: train.input: ...". A message that has a place already, or names no key, stays
// as it is.
Status WithPlace(const ConfigNode& recipe, const Status& status);

}  // namespace stoker
