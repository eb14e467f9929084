#include "stoker/data/rewrites/picture_plan.h"

namespace stoker {

bool PicturePlan::Crop(const CropWindow& window) {
  const bool inside = window.y >= 0 && window.x >= 0 && window.height > 0 && window.width > 0 &&
                      window.y + window.height <= height_ && window.x + window.width <= width_;
  if (!inside) return false;
  CropWindow& cut = resized_ ? window_ : region_;
  cut.y += upside_down_ ? height_ - window.y - window.height : window.y;
  cut.x += mirrored_ ? width_ - window.x - window.width : window.x;
  cut.height = height_ = window.height;
  cut.width = width_ = window.width;
  return true;
}

// A mirrored picture is resized with weights that are rounded the other way round.
bool PicturePlan::Resize(const CropWindow& window, ResampleFilter filter,
                         const ResampleSize& size) {
  if (resized_ || mirrored_ || upside_down_ || !Crop(window)) return false;
  resized_ = {filter, size, window.y, window.x};
  window_ = {.height = size.height, .width = size.width};
  height_ = size.height;
  width_ = size.width;
  return true;
}

bool PicturePlan::Mirror() {
  mirrored_ = !mirrored_;
  return true;
}

bool PicturePlan::TurnUpside() {
  upside_down_ = !upside_down_;
  return true;
}

}  // namespace stoker
