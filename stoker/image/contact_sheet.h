// Arranges a batch of pictures in one picture.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

// The inverse of `normalize` with these options: pixel = (value * std + mean) * 255, for each
// channel.
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

// Makes about as many rows as columns, separated by grey lines.
//   pictures         at least one, of any dtype; shapes may differ; bytes are not scaled
//   denormalization  for all others; without it, the smallest value of each picture becomes black
//                    and its largest white
// Errors: kInvalidArgument if one is not a picture, or the sheet has more than 2^26 pixels.
Result<ContactSheet> MakeContactSheet(const std::vector<Array>& pictures,
                                      const std::optional<Denormalization>& denormalization);

}  // namespace stoker
