// The places of a recipe's keys, for errors found after parsing.
#pragma once

#include "stoker/base/config.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Returns the tree in which WithPlace (data/recipe/recipe_place.h) finds the recipe's keys. A
// recipe made in C++ has no places, and WithPlace then changes nothing.
ConfigNode PlacesOf(const Recipe& recipe);

}  // namespace stoker
