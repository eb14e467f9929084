// Makes a pipeline to pack from the user's source.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/data/pack/pack_source.h"

namespace stoker {

// Opens the pipeline that `source` names:
//   a recipe (.yaml, .yml)            one of its pipelines, or its first stages
//   a directory                       a folder for each class (`folder`): encoded pictures
//   files of a format that is packed  their records; a path, a pattern or shards ("x@128")
//   as it is (FileFormat::pack)
// Errors: kInvalidArgument for anything else, with the recipe line that reads it, and for options
// that are for recipes; those of PackSourceOfRecipe and of the sources.
Result<PackSource> OpenPackSource(const std::string& source, const PackSourceOptions& options);

}  // namespace stoker
