// Moves the normalisation at the end of a pipeline to the consumer of the pixels: an accelerator
// receives a quarter of the bytes and normalises them faster than they are transferred.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/image/normalize.h"

namespace stoker {

struct NormalizeApart {
  Dataset pixels;                    // the pipeline without it: uint8 instead of float32
  std::vector<ShiftScale> channels;  // y = (x - shift) * scale: one, or one for each channel
};

// Takes the last `normalize` of `field` out of the pipeline `train` or `eval` of a recipe. The
// elements, their order, keys and random draws stay the same, because no later stage draws. Opens
// the files of the pipeline's source, as parsing does. Errors: kFailedPrecondition with the reason:
// no such stage, one per sample, one of float pixels, later stages other than batch, prefetch and
// layout, a pipeline made in C++.
Result<NormalizeApart> TakeNormalizeOut(const DataRecipe& recipe, std::string_view pipeline,
                                        std::string_view field);

}  // namespace stoker
