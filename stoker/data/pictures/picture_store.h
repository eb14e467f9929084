// From the pixels of a decoded region to a slot, as planned: the last part of one pass.
#pragma once

#include "stoker/data/pictures/picture_plan.h"
#include "stoker/image/decode.h"
#include "stoker/image/pixel_view.h"
#include "stoker/image/store.h"

namespace stoker {

// Mirrors the decoded region where that comes before its resize. To be called before StorePlanned.
//   pixels  plan.region() of `channels` bytes a pixel; changed in place
void TurnBeforeResize(const PicturePlan& plan, int channels, const PixelRows& pixels);

// Resizes the region, puts a border around it and mirrors it as planned, and stores what the plan
// keeps of it.
//   finish  mirrored as the plan is
//   slot    of the plan's height and width
// False if the resize would fail, takes so much memory for tables that it must be charged to its
// stage, or was asked to stop: the maps one by one then do so too.
bool StorePlanned(const PixelView& region, const PicturePlan& plan, const PixelFinish& finish,
                  const PixelSlot& slot);

}  // namespace stoker
