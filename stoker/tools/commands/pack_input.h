// What the user names, as a pipeline to pack.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/data/pack/pack_source.h"

namespace stoker {

// The pipeline that `source` stands for:
//   a recipe (.yaml, .yml)            one of its pipelines, or the begin of it
//   a directory                       a folder for each class (`folder`): pictures as they are
//   files of a format that is packed  their records; a path, a pattern or shards ("x@128")
//   as it is (FileFormat::pack)
// Errors: kInvalidArgument for anything else, with the recipe line that reads it, and for options
// that are for recipes; those of PackSourceOfRecipe and of the sources.
Result<PackSource> OpenPackSource(const std::string& source, const PackSourceOptions& options);

}  // namespace stoker
