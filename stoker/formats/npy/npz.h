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
// ones are inflated into memory of the process, all at once and without a limit but that a file
// cannot announce more than 1032 times its bytes, which is the most that deflate makes of one (zip
// holds entries against it): who reads a file of others says which `names`. Checksums are verified,
// so all that is wanted is read. Errors: kNotFound for a name that is not there; those of ZipFile
// and ParseNpy.
Result<NamedArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names = {});

// Writes them atomically, stored. Errors: those of ZipWriter and NpyHeaderOf.
Status WriteNpz(const std::string& path, const NamedArrays& arrays);

}  // namespace stoker
