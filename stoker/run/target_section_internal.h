// The key train.target of a recipe, where it says how the target is transformed.
#pragma once

#include <string>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Reads `target: {price: {normalize: auto, log: true}}` of the section `train` into `target`, and
// leaves `target: price` in `section`; does nothing where `target` is no map. With a mistake the
// options stay as they are, and a key that does not name one field is taken out. Errors:
// kInvalidArgument with the place.
Status TakeTarget(ConfigNode& section, TargetOptions& target);

// Returns the value of the key: the name alone where nothing is transformed.
ConfigNode FilledTarget(const std::string& name, const TargetOptions& target);

}  // namespace stoker
