// Reads ranges from the options of image transforms.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/transforms/image_draws_internal.h"

namespace stoker {

// Reads [low, high]. InvalidArgument if there are not two numbers, or the first is larger.
Result<DrawRange> PlanRange(std::string_view who, std::string_view option,
                            const std::vector<double>& values);

// Reads [low, high], or one number for -number..number.
Result<DrawRange> PlanSymmetricRange(std::string_view who, std::string_view option,
                                     const std::vector<double>& values);

// Area and ratio of a window: [low, high], positive, the area at most 1.
struct WindowRanges {
  DrawRange area;
  DrawRange ratio;
};
Result<WindowRanges> PlanWindow(std::string_view who, const std::vector<double>& area,
                                const std::vector<double>& ratio);

}  // namespace stoker
