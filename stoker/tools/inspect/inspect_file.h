// What `stoker inspect` finds out about files, operators and the pictures of a recipe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// A file of any format of tools/formats/file_format.h, and a recipe (YAML with a section `data`,
// `model` or `train`); of other kinds the name and size, and what is around them ("compressed":
// "gzip", "zstd", "xz" or "bzip2"). Everything that has a checksum or announces its size is read
// and checked. The first `samples` samples are shown, where a source reads the format.
Result<Inspection> InspectFile(const std::string& path, int64_t samples = 0);

// Writes the pictures of the first batch of data.train, as the network gets them, side by side into
// the PNG file `to`, and tells their labels.
Result<Inspection> InspectGrid(const std::string& path, const std::vector<std::string>& assignments,
                               const std::string& to);

// Every format that a file may have: its name, the recipe line that reads it, and whether `stoker
// pack` takes its files as they are.
Inspection InspectFormats();

// Every operator of recipes, or the one called `name` with all about its options. Errors:
// kInvalidArgument for an unknown name, with the nearest known one.
Result<Inspection> InspectOperators(const std::string& name);

}  // namespace stoker
