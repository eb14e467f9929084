// The parts of a picture that must be decoded for a region of it.
#pragma once

#include <array>

#include "stoker/image/decode.h"
#include "stoker/image/jpeg_baseline/geometry.h"

namespace stoker::jpeg_baseline {

struct Range {
  int begin = 0;
  int end = 0;  // exclusive
  int size() const { return end - begin; }
};

struct RegionPlan {
  Geometry geometry;
  Range mcu_rows;
  Range mcu_columns;
  Expansion chroma;        // of Cb and Cr; none if they are not wanted
  int num_components = 0;  // wanted ones

  // Returns the components of which only the DC values are needed: a block becomes a sample, or is
  // not wanted.
  std::array<bool, kMaxComponents> OnlyDc() const;
};

// Plans a region, which must lie inside the picture at its scale. `channels`: those wanted; 1 needs
// no chroma.
RegionPlan PlanRegion(const Frame& frame, const ImageRegion& region, int channels);

// Returns the row of samples that lies on the other side of a pixel's row than `y / 2`, for
// pictures of half the rows (the nearest one at the edges).
inline int FarRow(int y, int sample_rows) {
  const int far = y % 2 == 0 ? y / 2 - 1 : y / 2 + 1;
  return far < 0 ? 0 : far < sample_rows ? far : sample_rows - 1;
}

}  // namespace stoker::jpeg_baseline
