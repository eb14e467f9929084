#include "stoker/image/exif.h"

namespace stoker {
namespace {

// A TIFF structure (Adobe's TIFF 6.0, section 2), read with length checks.
class TiffReader {
 public:
  explicit TiffReader(std::span<const std::byte> bytes) : bytes_(bytes) {
    big_endian_ = bytes.size() >= 2 && bytes[0] == std::byte{'M'} && bytes[1] == std::byte{'M'};
    ok_ = big_endian_ ||
          (bytes.size() >= 2 && bytes[0] == std::byte{'I'} && bytes[1] == std::byte{'I'});
  }

  // An unsigned number of `size` bytes; 0, and ok() is false from then on, where the bytes end.
  uint32_t Number(size_t at, size_t size) {
    if (at > bytes_.size() || bytes_.size() - at < size) {
      ok_ = false;
      return 0;
    }
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      const size_t byte = big_endian_ ? at + i : at + size - 1 - i;
      value = value << 8 | std::to_integer<uint32_t>(bytes_[byte]);
    }
    return value;
  }
  bool ok() const { return ok_; }

 private:
  const std::span<const std::byte> bytes_;
  bool big_endian_ = false;
  bool ok_ = false;
};

}  // namespace

int ExifOrientation(std::span<const std::byte> tiff) {
  constexpr uint32_t kTag = 0x0112, kShort = 3, kMagic = 42;
  constexpr size_t kEntryBytes = 12;
  TiffReader reader(tiff);
  if (!reader.ok() || reader.Number(2, 2) != kMagic) return 1;
  const size_t directory = reader.Number(4, 4);
  const uint32_t entries = reader.Number(directory, 2);
  for (uint32_t i = 0; i < entries && reader.ok(); ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (reader.Number(entry, 2) != kTag) continue;
    if (reader.Number(entry + 2, 2) != kShort || reader.Number(entry + 4, 4) != 1) return 1;
    const uint32_t value = reader.Number(entry + 8, 2);
    return reader.ok() && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace stoker
