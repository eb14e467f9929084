// The normalisation at the end of a pipeline, taken out of it, so that whoever gets the pixels can
// do it: an accelerator gets a quarter of the bytes and normalises them faster than they travel.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/image/normalize.h"

namespace stoker {

struct NormalizeApart {
  Dataset pixels;                    // the pipeline without it: uint8 where it gave float32
  std::vector<ShiftScale> channels;  // y = (x - shift) * scale: one, or one for each channel
};

// Takes the last `normalize` of `field` out of the pipeline `train` or `eval` of a recipe. The
// elements, their order and their keys stay, and so do all random draws: no stage draws behind it.
// Opens the files of the pipeline's source, as parsing does. Errors: kFailedPrecondition with what
// is in the way: no such stage, one per sample, one of float pixels, stages other than batch,
// prefetch and layout behind it, a pipeline that was made in C++.
Result<NormalizeApart> TakeNormalizeOut(const DataRecipe& recipe, std::string_view pipeline,
                                        std::string_view field);

}  // namespace stoker
