// Converts a pickle's value to the tensors of a .pt file.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/formats/pt/pickle_internal.h"
#include "stoker/formats/pt/pt_file.h"

namespace stoker::internal {

// Traverses the pickle's value. Checks the names and types of storages, and that tensors lie inside
// their storage; does not locate the storages. A shared value has a name for each of its places, so
// names are limited to 4 KiB each, and the result to 64 MiB beyond a size proportional to the
// pickle.
//   name  of the file, for messages
// Errors: kDataLoss, kUnimplemented, with the name of the tensor or value.
Result<PtContents> ReadPtContents(const PickleTree& tree, const std::string& name);

}  // namespace stoker::internal
