// Detects pictures with channels in an unexpected place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// A doubt that the channels of the pictures in the field `name` are first: the extents look like
// [samples, height, width, channels], with a last extent of 1, 3 or 4 that is the smallest. None
// for other shapes, or if a `layout` puts channels last.
struct ChannelDoubt {
  std::string problem;  // "its samples of 28 x 28 x 3 are taken as 28 channels of 28 x 3 pixels"
  std::string advice;
};
std::optional<ChannelDoubt> DoubtChannels(const Dataset& batches, std::string_view name);

}  // namespace stoker
