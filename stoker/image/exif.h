// The orientation in EXIF metadata (CIPA DC-008, "Exchangeable image file format"), and turning
// pictures by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker {

// Returns the value of the tag Orientation, 1..8, in the first directory; 1 if there is none, or if
// the metadata are damaged, because that must not make the picture unreadable.
//   tiff  from the byte order mark ("II" or "MM") on
int ExifOrientation(std::span<const std::byte> tiff);

// How to turn a stored picture upright: exchange its axes or not, then count its stored rows and
// columns from the other end or not.
struct Turn {
  bool exchanges_axes = false;
  bool flips_rows = false;
  bool flips_columns = false;

  static Turn Of(int orientation) {
    return {
        .exchanges_axes = orientation >= 5,
        .flips_rows = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7,
        .flips_columns =
            orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8};
  }
};

}  // namespace stoker
