#include "stoker/image/bmp.h"

#include <algorithm>
#include <cstring>

#include "stoker/base/stop_counter.h"
#include "stoker/image/bmp_header.h"

namespace stoker {
namespace {

bool IsRunLength(const BmpHeader& header) { return header.coding != BmpCoding::kPlain; }
bool HasFields(const BmpHeader& header) { return header.bits == 16 || header.bits == 32; }

// Indices of `bits` bits in a plain row, the first pixel in the highest bits.
void UnpackIndices(const uint8_t* row, int bits, int64_t x, int64_t n, uint8_t* out) {
  const int64_t per_byte = 8 / bits;
  const int mask = (1 << bits) - 1;
  for (int64_t i = 0; i < n; ++i, ++x) {
    const auto shift = static_cast<int>(8 - bits - x % per_byte * bits);
    out[i] = static_cast<uint8_t>(row[x / per_byte] >> shift & mask);
  }
}

void LookUp(const BmpHeader& header, const uint8_t* indices, int64_t n, uint8_t* rgb) {
  for (int64_t i = 0; i < n; ++i, rgb += 3) std::memcpy(rgb, header.palette[indices[i]].data(), 3);
}

// One channel of a pixel as 0..255.
uint8_t Channel(uint32_t pixel, const BmpField& field, uint8_t missing) {
  if (field.bits == 0) return missing;
  const uint64_t most = (uint64_t{1} << field.bits) - 1;
  const uint64_t value = pixel >> field.shift & most;
  if (field.bits > 8) return static_cast<uint8_t>(value >> (field.bits - 8));
  return static_cast<uint8_t>((value * 255 + most / 2) / most);
}

// n pixels of 16 or 32 bits as R G B A.
void UnpackFields(const BmpHeader& header, const uint8_t* row, int64_t x, int64_t n,
                  uint8_t* rgba) {
  const int64_t pixel_bytes = header.bits / 8;
  row += x * pixel_bytes;
  for (int64_t i = 0; i < n; ++i, row += pixel_bytes, rgba += 4) {
    uint32_t pixel = 0;
    for (int64_t byte = pixel_bytes; byte-- > 0;) pixel = pixel << 8 | row[byte];
    for (size_t c = 0; c < 4; ++c) rgba[c] = Channel(pixel, header.fields[c], c == 3 ? 255 : 0);
  }
}

void SwapBlueAndRed(const uint8_t* bgr, int64_t n, uint8_t* rgb) {
  for (int64_t i = 0; i < n; ++i, bgr += 3, rgb += 3) {
    rgb[0] = bgr[2];
    rgb[1] = bgr[1];
    rgb[2] = bgr[0];
  }
}

// The indices of a region of a run-length coded picture, whose rows come from the bottom.
class RunLengthReader {
 public:
  RunLengthReader(const EncodedImage& bmp, const BmpHeader& header, const ImageRegion& region,
                  uint8_t* indices)
      : bmp_(bmp),
        header_(header),
        region_(region),
        indices_(indices),
        at_(static_cast<size_t>(header.pixels_at)),
        y_(header.height - 1) {}

  // Reads down to the region's first row. What lies beyond the right or the upper edge is dropped.
  Status Read() {
    while (y_ >= region_.y) {
      STOKER_RETURN_IF_ERROR(Need(2));
      const uint8_t count = Byte(0), value = Byte(1);
      at_ += 2;
      if (count > 0) {
        PutRun(count, value);
      } else if (value == 0) {
        x_ = 0;
        --y_;
      } else if (value == 1) {
        return OkStatus();
      } else if (value == 2) {
        STOKER_RETURN_IF_ERROR(Need(2));
        x_ += Byte(0);
        y_ -= Byte(1);
        at_ += 2;
      } else {
        STOKER_RETURN_IF_ERROR(PutLiterals(value));
      }
    }
    return OkStatus();
  }

 private:
  bool nibbles() const { return header_.coding == BmpCoding::kRle4; }
  uint8_t Byte(size_t offset) const { return std::to_integer<uint8_t>(bmp_.bytes[at_ + offset]); }

  void Put(uint8_t index) {
    const int64_t y = y_ - region_.y, x = x_ - region_.x;
    if (y >= 0 && y < region_.height && x >= 0 && x < region_.width)
      indices_[y * region_.width + x] = index;
    ++x_;
  }

  void PutRun(int count, uint8_t value) {
    for (int i = 0; i < count; ++i) Put(nibbles() ? (i % 2 == 0 ? value >> 4 : value & 15) : value);
  }

  // Pixels as they are, filled up to a multiple of 2 bytes.
  Status PutLiterals(size_t count) {
    const size_t bytes = nibbles() ? (count + 1) / 2 : count;
    STOKER_RETURN_IF_ERROR(Need(bytes));
    for (size_t i = 0; i < count; ++i) {
      const uint8_t byte = Byte(nibbles() ? i / 2 : i);
      Put(nibbles() ? (i % 2 == 0 ? byte >> 4 : byte & 15) : byte);
    }
    at_ = std::min(bmp_.bytes.size(), at_ + (bytes + 1) / 2 * 2);
    return OkStatus();
  }

  Status Need(size_t bytes) const {
    if (bmp_.bytes.size() - at_ >= bytes) return OkStatus();
    return DataLoss(
        "{}: byte {}: the run-length coded BMP ends before its last row; the file was cut short: "
        "copy or download it again",
        bmp_.name, bmp_.bytes.size());
  }

  const EncodedImage& bmp_;
  const BmpHeader& header_;
  const ImageRegion& region_;
  uint8_t* const indices_;
  size_t at_;
  int64_t x_ = 0;
  int64_t y_;
};

// Row y of the picture, as it lies in the file.
const uint8_t* StoredRow(const EncodedImage& image, const BmpHeader& header, int64_t y) {
  const int64_t row = header.top_down ? y : header.height - 1 - y;
  return reinterpret_cast<const uint8_t*>(image.bytes.data()) + header.pixels_at +
         row * header.stride();
}

// A row of the region as R G B, or R G B A for 16 and 32 bits.
void UnpackRow(const BmpHeader& header, const uint8_t* row, const ImageRegion& region,
               uint8_t* indices, uint8_t* pixels) {
  if (HasFields(header)) return UnpackFields(header, row, region.x, region.width, pixels);
  if (header.bits == 24) return SwapBlueAndRed(row + 3 * region.x, region.width, pixels);
  UnpackIndices(row, header.bits, region.x, region.width, indices);
  LookUp(header, indices, region.width, pixels);
}

}  // namespace

Result<ImageInfo> ProbeBmp(const EncodedImage& image, const DecodeOptions& options) {
  STOKER_ASSIGN_OR_RETURN(const BmpHeader header, ReadBmpHeader(image, options.limits));
  return ImageInfo{.format = ImageFormat::kBmp,
                   .height = header.height,
                   .width = header.width,
                   .channels = DeliveredChannels(options, /*stored_grey=*/false),
                   .bits = HasFields(header) ? header.fields[1].bits : std::min(header.bits, 8),
                   .alpha = header.fields[3].bits > 0};
}

Status DecodeBmpRegion(const EncodedImage& image, const ImageInfo& info, const ImageRegion& region,
                       const DecodeOptions& options, const PixelRows& out, DecodeScratch& scratch) {
  STOKER_ASSIGN_OR_RETURN(const BmpHeader header, ReadBmpHeader(image, options.limits));
  STOKER_RETURN_IF_ERROR(CheckIsAsProbed(image.name, info, header.width, header.height));
  const auto width = static_cast<size_t>(region.width);
  const size_t indices_size =
      width * (IsRunLength(header) ? static_cast<size_t>(region.height) : 1);
  auto* indices = reinterpret_cast<uint8_t*>(scratch.Take(indices_size));
  auto* const pixels = reinterpret_cast<uint8_t*>(scratch.Take(4 * width));
  if (IsRunLength(header)) {
    std::memset(indices, 0, indices_size);
    STOKER_RETURN_IF_ERROR(RunLengthReader(image, header, region, indices).Read());
  }
  const PixelLayout layout = HasFields(header) ? PixelLayout::kRgba : PixelLayout::kRgb;
  StopCounter stop;
  for (int64_t y = 0; y < region.height; ++y) {
    if (stop.Asked(region.width)) return DecodingStopped(image.name);
    if (IsRunLength(header)) {
      LookUp(header, indices + y * region.width, region.width, pixels);
    } else {
      UnpackRow(header, StoredRow(image, header, region.y + y), region, indices, pixels);
    }
    ConvertPixels(layout, pixels, width, options.background, info.channels, out.row(y));
  }
  return OkStatus();
}

}  // namespace stoker
