#include "stoker/data/pictures/picture_plan.h"

#include <algorithm>

namespace stoker {
namespace {

// The part of the window that lies inside.
CropWindow Inside(const CropWindow& window, int64_t height, int64_t width) {
  const int64_t y = std::max<int64_t>(window.y, 0), x = std::max<int64_t>(window.x, 0);
  return {.y = y,
          .x = x,
          .height = std::min(window.y + window.height, height) - y,
          .width = std::min(window.x + window.width, width) - x};
}

void Cut(CropWindow& from, const CropWindow& window) {
  from = {from.y + window.y, from.x + window.x, window.height, window.width};
}

}  // namespace

CropWindow PicturePlan::Unturned(const CropWindow& window) const {
  return {.y = upside_down_ ? height_ - window.y - window.height : window.y,
          .x = mirrored_ ? width_ - window.x - window.width : window.x,
          .height = window.height,
          .width = window.width};
}

bool PicturePlan::Crop(const CropWindow& window) {
  const bool inside = window.y >= 0 && window.x >= 0 && window.height > 0 && window.width > 0 &&
                      window.y + window.height <= height_ && window.x + window.width <= width_;
  if (!inside) return false;
  Cut(Outermost(), Unturned(window));
  height_ = window.height;
  width_ = window.width;
  return true;
}

bool PicturePlan::CropOrPad(const CropWindow& window, const PictureBorder& border) {
  if (Crop(window)) return true;
  if (framed_ || window.height <= 0 || window.width <= 0) return false;
  CropWindow outer = Unturned(window);
  if (border.mode == Border::kConstant) {  // what the window does not show need not be made
    const CropWindow shown = Inside(outer, height_, width_);
    if (shown.height <= 0 || shown.width <= 0) return false;
    Cut(Outermost(), shown);
    outer.y -= shown.y;
    outer.x -= shown.x;
  }
  framed_ = {outer, border};
  height_ = window.height;
  width_ = window.width;
  return true;
}

// Weights are rounded, and those of a mirrored picture are not the mirrored ones: so it is mirrored
// before it is resized, not afterwards.
bool PicturePlan::Resize(const CropWindow& window, ResampleFilter filter,
                         const ResampleSize& size) {
  if (resized_ || framed_ || !Crop(window)) return false;
  resized_ = {filter, size, window.y, window.x, mirrored_, upside_down_};
  mirrored_ = upside_down_ = false;
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
