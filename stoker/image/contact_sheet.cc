#include "stoker/image/contact_sheet.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "stoker/image/cast.h"

namespace stoker {
namespace {

constexpr int64_t kSheetGap = 2;
constexpr uint8_t kSheetGapValue = 128;
constexpr int64_t kMostPixels = int64_t{1} << 26;

bool IsChannels(int64_t extent) { return extent == 1 || extent == 3; }

// A picture as floats, and where its values stand.
struct Picture {
  std::vector<float> values;
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  bool channels_last = false;
  bool bytes = false;

  float at(int64_t y, int64_t x, int64_t c) const {
    const int64_t i = channels_last ? (y * width + x) * channels + c : (c * height + y) * width + x;
    return values[static_cast<size_t>(i)];
  }
};

Picture PictureOf(const Array& array) {
  const Shape& shape = array.shape();
  Picture picture{.channels_last = !IsChannels(shape[0]), .bytes = array.dtype() == DType::kUInt8};
  picture.channels = picture.channels_last ? shape[2] : shape[0];
  picture.height = picture.channels_last ? shape[0] : shape[1];
  picture.width = picture.channels_last ? shape[1] : shape[2];
  picture.values.resize(static_cast<size_t>(array.num_values()));
  CastValues(array.dtype(), array.data(), picture.values.size(), DType::kFloat32,
             reinterpret_cast<std::byte*>(picture.values.data()));
  return picture;
}

// pixel = value * scale + shift, for each channel.
struct Brightness {
  double scale = 1;
  double shift = 0;
};

std::vector<Brightness> Stretched(const Picture& picture) {
  double least = INFINITY, most = -INFINITY;
  for (const float value : picture.values) {
    if (!std::isfinite(value)) continue;
    least = std::min<double>(least, value);
    most = std::max<double>(most, value);
  }
  const double scale = most > least ? 255 / (most - least) : 0;
  const double shift = most > least ? -least * scale : kSheetGapValue;
  return std::vector<Brightness>(static_cast<size_t>(picture.channels), {scale, shift});
}

std::vector<Brightness> BrightnessOf(const Picture& picture,
                                     const std::optional<Denormalization>& denormalization) {
  std::vector<Brightness> channels(static_cast<size_t>(picture.channels));
  if (picture.bytes) return channels;
  if (!denormalization) return Stretched(picture);
  const auto pick = [](const std::vector<double>& of, size_t c) {
    return of[of.size() > c ? c : 0];
  };
  for (size_t c = 0; c < channels.size(); ++c)
    channels[c] = {255 * pick(denormalization->std, c), 255 * pick(denormalization->mean, c)};
  return channels;
}

// What is no number is black.
uint8_t PixelOf(float value, const Brightness& brightness) {
  const double pixel = std::nearbyint(value * brightness.scale + brightness.shift);
  return pixel > 0 ? static_cast<uint8_t>(std::min(pixel, 255.0)) : uint8_t{0};
}

void Draw(const Picture& picture, const std::vector<Brightness>& brightness, int64_t top,
          int64_t left, const Array& sheet) {
  for (int64_t y = 0; y < picture.height; ++y) {
    uint8_t* out = sheet.values<uint8_t>().data() + ((top + y) * sheet.shape()[1] + left) * 3;
    for (int64_t x = 0; x < picture.width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        const int64_t from = picture.channels == 1 ? 0 : c;
        *out++ = PixelOf(picture.at(y, x, from), brightness[static_cast<size_t>(from)]);
      }
    }
  }
}

}  // namespace

bool IsPictureShape(std::span<const int64_t> shape) {
  return shape.size() == 3 && (IsChannels(shape[0]) || IsChannels(shape[2]));
}

Result<ContactSheet> MakeContactSheet(const std::vector<Array>& arrays,
                                      const std::optional<Denormalization>& denormalization) {
  std::vector<Picture> pictures;
  int64_t height = 0, width = 0;
  for (const Array& array : arrays) {
    if (!IsPictureShape(array.shape()) || array.num_values() == 0) {
      return InvalidArgument("{} is no picture; that is [1 or 3, height, width], or channels last",
                             array.ToString());
    }
    pictures.push_back(PictureOf(array));
    height = std::max(height, pictures.back().height);
    width = std::max(width, pictures.back().width);
  }
  if (pictures.empty()) return InvalidArgument("there are no pictures to show");
  const auto columns =
      static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(pictures.size()))));
  const int64_t rows = (std::ssize(pictures) + columns - 1) / columns;
  const double pixels = static_cast<double>(rows * columns) *
                        static_cast<double>(height + kSheetGap) *
                        static_cast<double>(width + kSheetGap);
  if (pixels > kMostPixels) {
    return InvalidArgument(
        "{} pictures of up to {} x {} pixels are too many for one sheet; take "
        "smaller batches, or resize",
        pictures.size(), width, height);
  }
  ContactSheet sheet{
      .pixels = Array::Allocate(DType::kUInt8, {rows * (height + kSheetGap) - kSheetGap,
                                                columns * (width + kSheetGap) - kSheetGap, 3}),
      .columns = columns};
  std::memset(sheet.pixels.data(), kSheetGapValue, sheet.pixels.num_bytes());
  for (size_t i = 0; i < pictures.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    Draw(pictures[i], BrightnessOf(pictures[i], denormalization),
         place / columns * (height + kSheetGap), place % columns * (width + kSheetGap),
         sheet.pixels);
  }
  return sheet;
}

}  // namespace stoker
