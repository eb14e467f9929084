// Selects the Highway targets that the inverse DCTs are compiled for. Include it before Highway.
#pragma once

// The kernels use vectors in parts of 128 bits, each a row of a block; vectors of unknown length
// have no such parts.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
