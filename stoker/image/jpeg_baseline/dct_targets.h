// Which of Highway's targets the inverse DCTs are compiled for. To be included before Highway.
#pragma once

// The vectors are used in parts of 128 bits, a block's row each; vectors of unknown length are not
// made of such parts.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
