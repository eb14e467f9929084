// Whether pictures are what they are taken for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// What speaks against the channels of the pictures in the field `name` standing first: by their
// extents they are [samples, height, width, channels], with 1, 3 or 4 of what would be columns,
// fewer than of all else. Nothing of other shapes, nor where a `layout` says that they stand last.
struct ChannelDoubt {
  std::string problem;  // "its samples of 28 x 28 x 3 are taken as 28 channels of 28 x 3 pixels"
  std::string advice;
};
std::optional<ChannelDoubt> DoubtChannels(const Dataset& batches, std::string_view name);

}  // namespace stoker
