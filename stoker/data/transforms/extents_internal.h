// How large the extents are that transforms take.
#pragma once

namespace stoker {

constexpr double kMaxPixels =
    1 << 16;  // of a side of a picture, or of a border; keeps every product far from overflow
constexpr double kMaxRatio = 1000;       // of width to height
constexpr double kMostExtent = 1 << 30;  // of an array

}  // namespace stoker
