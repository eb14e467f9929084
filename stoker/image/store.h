// Writes a picture's rows, mirrored and normalised, into the slot of a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/base/dtype.h"
#include "stoker/image/normalize.h"
#include "stoker/image/pixel_view.h"
#include "stoker/image/resample.h"

namespace stoker {

// The destination of one picture. Strides are in values, so a slot may be a part of a larger array.
struct PixelSlot {
  DType dtype = DType::kFloat32;  // kUInt8, kFloat32 or kBFloat16
  std::byte* data = nullptr;      // aligned to the size of a value
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;      // 1 to 4
  int64_t row_stride = 0;    // values from one row to the next
  int64_t plane_stride = 0;  // from one channel to the next; 0: channels last (HWC)
  // Bypass the caches if rows are aligned for that: for slots of an array that is larger than the
  // caches and not read at once. Call FinishStreaming after the last row.
  bool streamed = false;

  // Returns a slot without gaps: CHW, or HWC.
  static PixelSlot Of(DType dtype, std::byte* data, int64_t height, int64_t width, int64_t channels,
                      bool channels_last);
};

// The changes of pixels: with the bits of FlipHorizontally, then NormalizePlane for each channel,
// then, for bfloat16, CastValues.
struct PixelFinish {
  bool flip = false;  // left becomes right
  // One for each channel, of finite numbers; empty: values are unchanged. uint8 slots take none.
  std::span<const ShiftScale> channels;
};

// Writes one row of a picture. `pixels`: slot.width pixels of kPixelBytes. REQUIRES: 0 <= y <
// slot.height; finish.channels has slot.channels entries or none; none if the slot is of bytes.
// Threads: concurrent calls for different rows are safe.
void StoreRow(const uint8_t* pixels, int64_t y, const PixelFinish& finish, const PixelSlot& slot);

// Makes this thread's stores to streamed slots visible to threads that it synchronises with
// afterwards.
void FinishStreaming();

// The plain twin of StoreRow.
void StoreRowReference(const uint8_t* pixels, int64_t y, const PixelFinish& finish,
                       const PixelSlot& slot);

// Resizes a box of a picture, finishes and stores it, each row while it is in the cache. The bits
// are those of the separate steps. REQUIRES: what CheckResample checks for the slot's size; as many
// channels in source and slot. Calls FinishStreaming. Returns false as Resample does.
bool ResampleToSlot(const PixelView& source, const ResampleBox& box, ResampleFilter filter,
                    const PixelFinish& finish, const PixelSlot& slot, ResampleScratch& scratch);

// The same without a resize, for a source of the slot's height and width; calls FinishStreaming
// too. Returns false as CopyRows does.
bool CopyToSlot(const PixelView& source, const PixelFinish& finish, const PixelSlot& slot,
                ResampleScratch& scratch);

}  // namespace stoker
