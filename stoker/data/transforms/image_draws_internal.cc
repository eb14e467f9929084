#include "stoker/data/transforms/image_draws_internal.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/portable_math.h"

namespace stoker {
namespace {

constexpr int kTries = 10;

int64_t Rounded(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

int64_t DrawPlace(int64_t image, int64_t window, Rng& rng) {
  return static_cast<int64_t>(rng.Below(static_cast<uint64_t>(image - window + 1)));
}

// The largest window in the middle whose width by height lies in the range.
CropWindow CentralWindow(int64_t height, int64_t width, const DrawRange& ratio) {
  const double image = static_cast<double>(width) / static_cast<double>(height);
  CropWindow window{.height = height, .width = width};
  if (image < ratio.low) {
    window.height = std::clamp<int64_t>(Rounded(static_cast<double>(width) / ratio.low), 1, height);
  } else if (image > ratio.high) {
    window.width = std::clamp<int64_t>(Rounded(static_cast<double>(height) * ratio.high), 1, width);
  }
  window.y = (height - window.height) / 2;
  window.x = (width - window.width) / 2;
  return window;
}

}  // namespace

double DrawRange::DrawLogarithmic(Rng& rng) const {
  return PortableExp(DrawRange{PortableLog(low), PortableLog(high)}.Draw(rng));
}

CropWindow DrawResizedCrop(int64_t height, int64_t width, const DrawRange& area,
                           const DrawRange& ratio, Rng& rng) {
  const double pixels = static_cast<double>(height) * static_cast<double>(width);
  for (int i = 0; i < kTries; ++i) {
    const double wanted = pixels * area.Draw(rng);
    const double aspect = ratio.DrawLogarithmic(rng);
    const int64_t w = Rounded(std::sqrt(wanted * aspect));
    const int64_t h = Rounded(std::sqrt(wanted / aspect));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    const int64_t y = DrawPlace(height, h, rng), x = DrawPlace(width, w, rng);
    return {y, x, h, w};
  }
  return CentralWindow(height, width, ratio);
}

std::optional<CropWindow> DrawErasedWindow(int64_t height, int64_t width, const DrawRange& area,
                                           const DrawRange& ratio, Rng& rng) {
  const double pixels = static_cast<double>(height) * static_cast<double>(width);
  for (int i = 0; i < kTries; ++i) {
    const double wanted = pixels * area.Draw(rng);
    const double aspect = ratio.DrawLogarithmic(rng);
    const int64_t h = Rounded(std::sqrt(wanted * aspect));
    const int64_t w = Rounded(std::sqrt(wanted / aspect));
    if (h >= height || w >= width) continue;
    const int64_t y = DrawPlace(height, h, rng), x = DrawPlace(width, w, rng);
    return CropWindow{y, x, h, w};
  }
  return std::nullopt;
}

AffineChange DrawAffine(int64_t height, int64_t width, const AffineRanges& ranges, Rng& rng) {
  const double far_x = ranges.translate_x * static_cast<double>(width);
  const double far_y = ranges.translate_y * static_cast<double>(height);
  AffineChange change;
  change.degrees = ranges.degrees.Draw(rng);
  change.translate_x = std::nearbyint(DrawRange{-far_x, far_x}.Draw(rng));
  change.translate_y = std::nearbyint(DrawRange{-far_y, far_y}.Draw(rng));
  change.scale = ranges.scale.Draw(rng);
  change.shear_x = ranges.shear_x.Draw(rng);
  change.shear_y = ranges.shear_y.Draw(rng);
  return change;
}

}  // namespace stoker
