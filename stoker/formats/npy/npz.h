// NumPy's .npz files: several arrays by name, in a zip archive. README.md has the layout.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

using NamedArrays = std::vector<std::pair<std::string, Array>>;

// The arrays of a file, in the order of the archive; `names`: only these, in this order. Stored
// ones are mapped where they are aligned (the file must not be changed while they live), deflated
// ones are inflated. Checksums are verified, so all that is wanted is read. Errors: kNotFound for a
// name that is not there; those of ZipFile and ParseNpy.
Result<NamedArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names = {});

// Writes them atomically, stored. Errors: those of ZipWriter and NpyHeaderOf.
Status WriteNpz(const std::string& path, const NamedArrays& arrays);

}  // namespace stoker
