// The places of a recipe's keys, for what is found to be wrong after it was parsed.
#pragma once

#include "stoker/base/config.h"
#include "stoker/run/recipe.h"

namespace stoker {

// What WithPlace (data/recipe/recipe_place.h) finds the keys of the recipe in. Without places, and
// then WithPlace changes nothing, where the recipe was made in C++.
ConfigNode PlacesOf(const Recipe& recipe);

}  // namespace stoker
