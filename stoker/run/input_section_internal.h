// The key train.input of a recipe, where it names several inputs.
#pragma once

#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/run/registry.h"

namespace stoker {

// Reads `input: {picture: image, words: text}` of the section `train` into `inputs`, and leaves
// `input: image`, the field of the first, in `section`; does nothing where `input` is no map. With
// a mistake the key is taken out. Errors: kInvalidArgument with the place.
Status TakeInputs(ConfigNode& section, std::vector<InputField>& inputs);

// Returns the value of the key for several inputs.
ConfigNode FilledInputs(const std::vector<InputField>& inputs);

}  // namespace stoker
