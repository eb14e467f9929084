// Working memory for stages that work on pictures.
#pragma once

#include "stoker/data/core/transform.h"
#include "stoker/image/decode_scratch.h"
#include "stoker/image/resample.h"

namespace stoker {

// Tables and rows of the resampler: some tens of kilobytes, kept by each thread that resizes.
ResampleScratch& ResampleScratchOfThisThread();

// Tables that take more (ResampleTableBytes) are charged to their stage while they are used, and
// not kept.
inline constexpr int64_t kMostUnchargedTables = int64_t{4} << 20;

// A decoder's working memory in blocks of the stage's own pool, so that it is charged to the stage
// and recycled. `scratch` must outlive it.
DecodeScratch DecodeScratchFrom(Scratch& scratch);

}  // namespace stoker
