// Work over values in memory on torch's threads, where there are enough of them.
#pragma once

#include <cstdint>
#include <functional>

#include "stoker/device/torch_threads.h"

namespace stoker {

// Calls work(begin, end) for ranges that together are 0 to n, as ForRangesOnTorchThreads does; on
// the calling thread alone where the values are too few to be worth waking others.
//   values  that the work reads or writes for all of n
inline void ForRangesOfValues(int64_t n, int64_t values,
                              const std::function<void(int64_t begin, int64_t end)>& work) {
  constexpr int64_t kFew = 1 << 15;
  if (values < kFew) return work(0, n);
  ForRangesOnTorchThreads(n, work);
}

}  // namespace stoker
