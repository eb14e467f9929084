// Working memory for stages that work on pictures.
#pragma once

#include "stoker/data/core/transform.h"
#include "stoker/image/decode_scratch.h"
#include "stoker/image/resample.h"

namespace stoker {

// Returns the resampler's tables and rows of this thread, some tens of kilobytes.
ResampleScratch& ResampleScratchOfThisThread();

// Larger tables (ResampleTableBytes) are charged to their stage while in use, and not kept.
inline constexpr int64_t kMostUnchargedTables = int64_t{4} << 20;

// Returns a decoder's working memory in blocks of the stage's pool, charged to the stage and
// recycled. `scratch` must outlive it.
DecodeScratch DecodeScratchFrom(Scratch& scratch);

}  // namespace stoker
