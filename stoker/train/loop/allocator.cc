#include "stoker/train/loop/allocator.h"

#include <cstdlib>  // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace stoker {

void KeepLargeBlocksMapped() {
#ifdef __GLIBC__
  // No block is mapped on its own, and the heap never shrinks: what is freed is found again, warm.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

}  // namespace stoker
