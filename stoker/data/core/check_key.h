// Checks the keys of a saved position against the current data.
#pragma once

#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns OutOfRange if `node`, whose keys are positions, has no element with this key. Call it
// before reading by a key from a file, because the data may have shrunk since.
Status CheckKey(const DatasetNode& node, const SampleKey& key);

}  // namespace stoker
