// Inspects files, operators and the pictures of a recipe for `stoker inspect`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// Describes a file of any format of tools/formats/file_format.h, or a recipe (YAML with a section
// `data`, `model` or `train`); for other kinds the name, the size and the compression
// ("compressed": "gzip"; io/decompression.h). Reads and checks everything that has a checksum
// or announces its size. Shows the first `samples` samples, if a source reads the format.
Result<Inspection> InspectFile(const std::string& path, int64_t samples = 0);

// Writes the pictures of the first batch of data.train, as the network gets them, into the PNG file
// `to`, and returns their labels.
Result<Inspection> InspectGrid(const std::string& path, const std::vector<std::string>& assignments,
                               const std::string& to);

// Lists every file format: its name, the recipe line that reads it, and whether `stoker pack`
// accepts its files.
Inspection InspectFormats();

// Describes every operator of recipes, or the one called `name` with its options. Errors:
// kInvalidArgument for an unknown name, with the nearest known one.
Result<Inspection> InspectOperators(const std::string& name);

}  // namespace stoker
