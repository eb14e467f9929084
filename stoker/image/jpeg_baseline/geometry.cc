#include "stoker/image/jpeg_baseline/geometry.h"

namespace stoker::jpeg_baseline {
namespace {

int DividedUp(int n, int by) { return (n + by - 1) / by; }

int BlockSizeOf(const Frame& frame, const Component& c, int smallest) {
  int size = smallest;
  while (size < kBlockSize && frame.max_across() * smallest % (c.across * size * 2) == 0 &&
         frame.max_down() * smallest % (c.down * size * 2) == 0) {
    size *= 2;
  }
  return size;
}

}  // namespace

Geometry GeometryOf(const Frame& frame, int fast_scale) {
  const int smallest = kBlockSize / fast_scale;
  Geometry g{.width = DividedUp(frame.width, fast_scale),
             .height = DividedUp(frame.height, fast_scale),
             .mcu_width = frame.max_across() * smallest,
             .mcu_height = frame.max_down() * smallest,
             .planes = {}};
  for (int i = 0; i < frame.num_components; ++i) {
    const Component& c = frame.components[i];
    PlaneGeometry& plane = g.planes[i];
    plane.block_size = BlockSizeOf(frame, c, smallest);
    plane.mcu_width = c.across * plane.block_size;
    plane.mcu_height = c.down * plane.block_size;
    plane.width = DividedUp(frame.width * plane.mcu_width, frame.max_across() * kBlockSize);
    plane.height = DividedUp(frame.height * plane.mcu_height, frame.max_down() * kBlockSize);
  }
  return g;
}

Expansion ExpansionOf(const Geometry& geometry, int component) {
  const PlaneGeometry& plane = geometry.planes[component];
  Expansion e{geometry.mcu_width / plane.mcu_width, geometry.mcu_height / plane.mcu_height};
  // h2v1 and h2v2 from three samples on, h1v2 always, and none where a block is a pixel.
  if (geometry.planes[0].block_size == 1) return e;
  e.fancy_across = e.across == 2 && plane.width > 2;
  e.fancy_down = e.down == 2 && (e.across == 1 || e.fancy_across);
  return e;
}

}  // namespace stoker::jpeg_baseline
