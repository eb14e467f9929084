// Writes the pixels of a decoded region to a slot, as planned: the last part of one pass.
#pragma once

#include "stoker/data/pictures/picture_plan.h"
#include "stoker/image/decode.h"
#include "stoker/image/pixel_view.h"
#include "stoker/image/store.h"

namespace stoker {

// Mirrors the decoded region if the plan does so before its resize. Call it before StorePlanned.
//   pixels  plan.region() of `channels` bytes a pixel; changed in place
void TurnBeforeResize(const PicturePlan& plan, int channels, const PixelRows& pixels);

// Resizes the region, puts a border around it and mirrors it as planned, and stores the planned
// window.
//   finish  mirrored as the plan is
//   slot    of the plan's height and width
// Returns false if the resize would fail, needs tables so large that its stage must be charged, or
// was asked to stop: run the maps one by one then.
bool StorePlanned(const PixelView& region, const PicturePlan& plan, const PixelFinish& finish,
                  const PixelSlot& slot);

}  // namespace stoker
