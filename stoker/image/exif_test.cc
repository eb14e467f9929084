#include "stoker/image/exif.h"

#include <vector>

#include "stoker/base/testing.h"

namespace stoker::exif_test {

// One entry, the orientation, after an entry of another kind.
std::vector<uint8_t> LittleEndian(uint8_t orientation) {
  return {'I', 'I', 42, 0, 8, 0, 0, 0, 2,           0,        // header; two entries
          0,   1,   4,  0, 1, 0, 0, 0, 9,           0, 0, 0,  // ImageWidth
          18,  1,   3,  0, 1, 0, 0, 0, orientation, 0, 0, 0,  // Orientation
          0,   0,   0,  0};
}
std::vector<uint8_t> BigEndian(uint8_t orientation) {
  return {'M', 'M', 0, 42, 0, 0, 0,           8, 0, 1, 1, 18, 0,
          3,   0,   0, 0,  1, 0, orientation, 0, 0, 0, 0, 0,  0};
}

int Read(const std::vector<uint8_t>& tiff) {
  return ExifOrientation(std::as_bytes(std::span(tiff)));
}

TEST(ExifOrientation, IsReadInBothByteOrders) {
  for (uint8_t orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(Read(LittleEndian(orientation)), orientation);
    EXPECT_EQ(Read(BigEndian(orientation)), orientation);
  }
}

TEST(ExifOrientation, IsOneWhereTheMetadataAreDamaged) {
  EXPECT_EQ(Read({}), 1);
  EXPECT_EQ(Read(BigEndian(0)), 1);
  EXPECT_EQ(Read(BigEndian(9)), 1);
  const auto with = [](size_t at, uint8_t value) {
    std::vector<uint8_t> tiff = BigEndian(6);
    tiff[at] = value;
    return tiff;
  };
  EXPECT_EQ(Read(with(0, 'X')), 1);  // byte order
  EXPECT_EQ(Read(with(3, 43)), 1);   // magic number
  EXPECT_EQ(Read(with(7, 200)), 1);  // the directory's place
  EXPECT_EQ(Read(with(11, 19)), 1);  // another tag
  EXPECT_EQ(Read(with(13, 2)), 1);   // text
  EXPECT_EQ(Read(with(17, 2)), 1);   // two values
}

TEST(ExifOrientation, NothingIsReadBehindTheEnd) {
  const std::vector<uint8_t> whole = LittleEndian(6);
  for (size_t n = 0; n < whole.size(); ++n) {
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(Read(cut), n >= 32 ? 6 : 1) << n;
  }
}

}  // namespace stoker::exif_test
