// The samples of a picture between the inverse DCT and the pixels: a few rows of each component at
// a time.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/image/decode_scratch.h"
#include "stoker/image/jpeg_baseline/entropy_decoder.h"
#include "stoker/image/jpeg_baseline/frame.h"
#include "stoker/image/jpeg_baseline/region_plan.h"

namespace stoker::jpeg_baseline {

// Holds the last one or two rows of MCUs, in the columns that the region needs. Rows are counted in
// the picture; columns from the first MCU column of the plan.
class Strip {
 public:
  // Memory is taken from `scratch`; `frame` is borrowed.
  Strip(const Frame& frame, const RegionPlan& plan, DecodeScratch& scratch);

  // Transforms the coefficients of MCUs that begin `mcu_column` MCUs right of the strip's left
  // side, a multiple of four, and clears them. They replace the rows of two (or one) MCU rows
  // above. Returns false if another decoder must decode the picture: see InverseDctGroup.
  bool Put(CoefficientBatch& batch, int mcu_row, int mcu_column);

  const uint8_t* row(int component, int y) const { return planes_[component].row(y); }

 private:
  struct Plane {
    uint8_t* data = nullptr;
    ptrdiff_t stride = 0;
    int row_mask = 0;  // rows are a ring of a power of two
    uint8_t* row(int y) const { return data + (y & row_mask) * stride; }
  };

  const Frame& frame_;
  const RegionPlan plan_;
  std::array<Plane, kMaxComponents> planes_;
};

// Makes pixels of the region from a strip.
class PixelWriter {
 public:
  // Borrows everything except the plan.
  //   mcus_down  of the whole picture
  //   channels   1: grey, 3: RGB
  PixelWriter(const RegionPlan& plan, int mcus_down, const ImageRegion& region, int channels,
              const PixelRows& out, DecodeScratch& scratch);

  // Writes the rows of the region that the MCU row `mcu_row` of the strip completes.
  void WriteRows(const Strip& strip, int mcu_row);

 private:
  int RowsComplete(int mcu_row) const;
  void WriteRow(const Strip& strip, int y, uint8_t* to);
  void WriteColourRow(const Strip& strip, int y, uint8_t* to);
  void SumChroma(const Strip& strip, int component, int y, int16_t* sums);
  const uint8_t* FullChroma(const Strip& strip, int component, int y, uint8_t* to);

  const RegionPlan plan_;
  const int mcus_down_;
  const ImageRegion& region_;
  const int channels_;
  const PixelRows& out_;
  const size_t x_;  // of the region in the strip
  int next_row_;    // of the picture
  // A row of Cb and Cr each: samples for each pixel, or sums for ConvertDoubledRow.
  std::array<uint8_t*, 2> full_{};
  std::array<int16_t*, 2> sums_{};
};

}  // namespace stoker::jpeg_baseline
