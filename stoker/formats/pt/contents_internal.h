// From what a pickle says to the tensors of a .pt file.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/formats/pt/pickle_internal.h"
#include "stoker/formats/pt/pt_file.h"

namespace stoker::internal {

// Walks through the pickle's value. Storages are checked for their names and types, and tensors for
// lying inside their storage; where the storages lie is left open. Values may be shared, and each
// place has a name of its own: names are limited to 4 KiB, and all that is made to 64 MiB more than
// in proportion to the pickle.
//   name  of the file, for messages
// Errors: kDataLoss, kUnimplemented, with the name of the tensor or value.
Result<PtContents> ReadPtContents(const PickleTree& tree, const std::string& name);

}  // namespace stoker::internal
