// The key train.target of a recipe, where it says how the target is transformed, or names several.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Reads `target: {price: {normalize: auto, log: true}}` of the section `train` into `target`, and
// leaves `target: price` in `section`; does nothing where `target` is no map. With a mistake the
// options stay as they are, and a key that does not name one field is taken out. Errors:
// kInvalidArgument with the place.
Status TakeTarget(ConfigNode& section, TargetOptions& target);

// Reads `target: {price: {...}, taste: {...}}` of the section `train` into `targets`, ordered by
// name, and leaves the name of the first in `section`; does nothing where `target` names one. With
// a mistake `targets` stay empty, and the key is taken out. Errors: kInvalidArgument with the
// place.
Status TakeTargets(ConfigNode& section, std::vector<TargetRecipe>& targets);

// Returns whether a section `train` names several.
bool NamesSeveralTargets(const ConfigNode& section);

// Returns the value of the key: the name alone where nothing is transformed.
ConfigNode FilledTarget(const std::string& name, const TargetOptions& target);
ConfigNode FilledTargets(const std::vector<TargetRecipe>& targets);

}  // namespace stoker
