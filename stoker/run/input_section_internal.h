// The key train.input of a recipe, where it names several inputs.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/run/registry.h"

namespace stoker {

// Reads `input: {picture: image, words: text}` of the section `train` into `inputs`, ordered by
// their names, since the order of a map means nothing when a recipe is compared with that of a run.
// Leaves `input: image` in `section`, the field that stands first, which is the main one. Does
// nothing where `input` is no map. Errors: kInvalidArgument with the place; then the key is taken
// out of `section`.
Status TakeInputs(ConfigNode& section, std::vector<InputField>& inputs);

// Returns the value of the key for several inputs, from which TakeInputs reads the same.
//   main  the field of the main one
ConfigNode FilledInputs(const std::vector<InputField>& inputs, const std::string& main);

}  // namespace stoker
