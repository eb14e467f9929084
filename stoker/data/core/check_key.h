// Holding the keys of a saved position to the data that are there now.
#pragma once

#include "stoker/data/core/dataset.h"

namespace stoker {

// OutOfRange where `node`, whose keys are positions, has no element with this key. A key comes from
// a file, and the data may have shrunk since it was written: every such node asks before it reads.
Status CheckKey(const DatasetNode& node, const SampleKey& key);

}  // namespace stoker
