// The sizes between the coefficients of a picture and its pixels, at full size or decoded at a
// smaller scale: libjpeg's rules (jdmaster.c and jdsample.c of libjpeg-turbo 2.1).
#pragma once

#include <array>

#include "stoker/image/jpeg_baseline/frame.h"

namespace stoker::jpeg_baseline {

// The samples of a component.
struct PlaneGeometry {
  int block_size = kBlockSize;  // samples that a block becomes, each way: 1, 2, 4 or 8
  int mcu_width = 0;            // samples
  int mcu_height = 0;
  int width = 0;  // samples that belong to pixels of the picture
  int height = 0;
};

struct Geometry {
  int width = 0;  // pixels
  int height = 0;
  int mcu_width = 0;
  int mcu_height = 0;
  std::array<PlaneGeometry, kMaxComponents> planes;
};

// Returns the geometry at a scale of 1 / fast_scale (1, 2, 4 or 8), by which blocks shrink. Those
// of Cb and Cr stay larger, up to 8 x 8, as long as that compensates for their smaller number in
// both directions.
Geometry GeometryOf(const Frame& frame, int fast_scale);

// How a component's samples are expanded to pixels.
struct Expansion {
  int across = 1;  // pixels for a sample, each way
  int down = 1;
  // Uses a triangle filter instead of repetition, as libjpeg does if it has one and the picture is
  // wide enough.
  bool fancy_across = false;
  bool fancy_down = false;
};
Expansion ExpansionOf(const Geometry& geometry, int component);

}  // namespace stoker::jpeg_baseline
