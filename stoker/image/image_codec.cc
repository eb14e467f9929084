#include "stoker/image/image_codec.h"

#include <cstring>

namespace stoker {
namespace {

// a * b / 255 to nearest, for products of two bytes; there are no halves, since 255 is odd.
constexpr uint8_t MultiplyBytes(uint32_t a, uint32_t b) {
  return static_cast<uint8_t>((a * b + 127) / 255);
}

struct Rgb {
  uint8_t r, g, b;
};

// BT.601 in fractions of 2^16 that add up to 1, rounded: PIL's and libjpeg's constants.
uint8_t Luma(Rgb p) {
  return static_cast<uint8_t>((p.r * 19595u + p.g * 38470u + p.b * 7471u + 0x8000u) >> 16);
}

uint8_t Over(uint32_t value, uint32_t alpha, uint32_t background) {
  return static_cast<uint8_t>((value * alpha + background * (255 - alpha) + 127) / 255);
}

template <typename Load>
void ConvertEach(size_t n, size_t step, const uint8_t* in, int channels, uint8_t* out, Load load) {
  if (channels == 1) {
    for (size_t i = 0; i < n; ++i, in += step) out[i] = Luma(load(in));
    return;
  }
  for (size_t i = 0; i < n; ++i, in += step, out += 3) {
    const Rgb pixel = load(in);
    out[0] = pixel.r;
    out[1] = pixel.g;
    out[2] = pixel.b;
  }
}

Rgb LoadRgb(const uint8_t* p) { return {p[0], p[1], p[2]}; }

}  // namespace

Status CheckPixels(std::string_view name, int64_t width, int64_t height,
                   const ImageLimits& limits) {
  if (width * height <= limits.max_pixels) return OkStatus();
  return OutOfRange("{}: {} x {} pixels are more than the {} allowed; scale the picture down", name,
                    width, height, limits.max_pixels);
}

Status DecodingStopped(std::string_view name) {
  return Cancelled("{}: asked to stop while it was decoded", name);
}

Status CheckIsAsProbed(std::string_view name, const ImageInfo& info, int64_t width,
                       int64_t height) {
  if (width == info.stored_width() && height == info.stored_height()) return OkStatus();
  return DataLoss(
      "{}: a picture of {} x {} pixels, but of {} x {} when it was probed; the file has changed "
      "meanwhile: read it again",
      name, width, height, info.stored_width(), info.stored_height());
}

int DeliveredChannels(const DecodeOptions& options, bool stored_grey) {
  switch (options.channels) {
    case ImageChannels::kAsStored: return stored_grey ? 1 : 3;
    case ImageChannels::kRgb: return 3;
    default: return 1;
  }
}

int BytesPerPixel(PixelLayout layout) {
  switch (layout) {
    case PixelLayout::kGrey: return 1;
    case PixelLayout::kRgb: return 3;
    default: return 4;
  }
}

void ConvertPixels(PixelLayout layout, const uint8_t* in, size_t n,
                   const std::optional<std::array<uint8_t, 3>>& background, int channels,
                   uint8_t* out) {
  switch (layout) {
    case PixelLayout::kGrey:
      if (channels == 1) {
        std::memcpy(out, in, n);
      } else {
        ConvertEach(n, 1, in, channels, out, [](const uint8_t* p) {
          return Rgb{p[0], p[0], p[0]};
        });
      }
      return;
    case PixelLayout::kRgb:
      if (channels == 3) {
        std::memcpy(out, in, 3 * n);
      } else {
        ConvertEach(n, 3, in, channels, out, LoadRgb);
      }
      return;
    case PixelLayout::kRgba:
      if (!background) return ConvertEach(n, 4, in, channels, out, LoadRgb);
      return ConvertEach(n, 4, in, channels, out, [b = *background](const uint8_t* p) {
        return Rgb{Over(p[0], p[3], b[0]), Over(p[1], p[3], b[1]), Over(p[2], p[3], b[2])};
      });
    case PixelLayout::kCmyk:
      return ConvertEach(n, 4, in, channels, out, [](const uint8_t* p) {
        const uint32_t white = 255u - p[3];
        return Rgb{MultiplyBytes(255u - p[0], white), MultiplyBytes(255u - p[1], white),
                   MultiplyBytes(255u - p[2], white)};
      });
    case PixelLayout::kInvertedCmyk:
      return ConvertEach(n, 4, in, channels, out, [](const uint8_t* p) {
        return Rgb{MultiplyBytes(p[0], p[3]), MultiplyBytes(p[1], p[3]), MultiplyBytes(p[2], p[3])};
      });
  }
}

}  // namespace stoker
