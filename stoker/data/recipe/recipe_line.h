// How recipes read what people have, for messages that help.
#pragma once

#include <string>

#include "stoker/formats/probe/file_kind.h"

namespace stoker {

// The stage of a recipe that reads the file `path` of this kind: "stoker: a.stoker". Where options
// have to be filled in there are dots.
std::string RecipeLineOf(FileKind kind, const std::string& path);

}  // namespace stoker
