// Recycles the memory of lists of keys within a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/data/core/element.h"

namespace stoker {

// Returns an empty list with room for `n` keys. A batch needs its rows' keys only until its columns
// are made, so the next batch can reuse the list. A list is so large that malloc would consolidate
// memory for it under a lock that the thread that frees columns waits for. Thread-safe.
std::vector<SampleKey> EmptyKeyList(size_t n);

// Returns the keys of elements at `positions`, in a list of EmptyKeyList.
std::vector<SampleKey> KeysAt(std::span<const int64_t> positions, uint64_t epoch);

// Keeps the list's memory for this thread's next EmptyKeyList: one list of at most 64 KiB.
void DropKeyList(std::vector<SampleKey> keys);

}  // namespace stoker
