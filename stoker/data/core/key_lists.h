// The memory of lists of keys, used again by the thread that drops them.
#pragma once

#include <cstddef>
#include <vector>

#include "stoker/data/core/element.h"

namespace stoker {

// An empty list with room for `n` keys. A batch needs its rows' keys only until its columns are
// made, so the list of one batch serves for the next: from the system, it is so large that malloc
// would take the lock that whoever frees the columns waits for, and tidy up under it. Thread-safe.
std::vector<SampleKey> EmptyKeyList(size_t n);

// Keeps the list's memory for this thread's next EmptyKeyList: of one list, of no more than 64 KiB.
void DropKeyList(std::vector<SampleKey> keys);

}  // namespace stoker
