// What of a picture must be decoded for a region of it.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/image/decode.h"
#include "stoker/image/jpeg_baseline/frame.h"

namespace stoker::jpeg_baseline {

// How a component's samples become as many as there are pixels.
struct Expansion {
  int across = 1;  // pixels for a sample, each way
  int down = 1;
  // By a triangle filter instead of repetition: libjpeg's rule, where it has one and the picture is
  // wide enough.
  bool fancy_across = false;
  bool fancy_down = false;
};
Expansion ExpansionOf(const Frame& frame, const Component& c);

struct Range {
  int begin = 0;
  int end = 0;  // exclusive
  int size() const { return end - begin; }
};

struct RegionPlan {
  Range mcu_rows;
  Range mcu_columns;
  Expansion chroma;        // of Cb and Cr; none where they are not wanted
  int num_components = 0;  // that are wanted
};

// The region lies inside the picture. `channels` are those wanted: 1 needs no chroma.
RegionPlan PlanRegion(const Frame& frame, const ImageRegion& region, int channels);

// The row of samples that lies on the other side of a pixel's row than `y / 2`, for pictures of
// half the rows (the nearest one at the edges).
inline int FarRow(int y, int sample_rows) {
  const int far = y % 2 == 0 ? y / 2 - 1 : y / 2 + 1;
  return far < 0 ? 0 : far < sample_rows ? far : sample_rows - 1;
}

}  // namespace stoker::jpeg_baseline
