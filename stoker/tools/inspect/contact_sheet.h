// A batch of pictures side by side, for people to look at.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

// How numbers become brightness again: pixel = (value * std + mean) * 255, for each channel. What
// `normalize` with these options did to bytes is undone.
struct Denormalization {
  std::vector<double> mean;  // one, or one for each channel
  std::vector<double> std;
};

struct ContactSheet {
  Array pixels;  // uint8 [height, width, 3]
  int64_t columns = 0;
};

// Whether an array of this shape can be a picture: [C, H, W] or [H, W, C] of 1 or 3 channels.
bool IsPictureShape(std::span<const int64_t> shape);

// Rows of about as many pictures as there are rows, with a line of grey between.
//   pictures         at least one, of any dtype, whose shapes may differ; bytes are taken as they
//                    are
//   denormalization  for all others; without it, the least value of each picture becomes black and
//                    its largest white
// Errors: kInvalidArgument where one is no picture, or the sheet has more than 2^26 pixels.
Result<ContactSheet> MakeContactSheet(const std::vector<Array>& pictures,
                                      const std::optional<Denormalization>& denormalization);

}  // namespace stoker
