#include "stoker/data/transforms/decode.h"

#include <algorithm>
#include <array>
#include <optional>

#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/pictures/picture_plan.h"
#include "stoker/data/pictures/picture_scratch.h"
#include "stoker/data/transforms/picture_names_internal.h"
#include "stoker/image/decode.h"
#include "stoker/image/store.h"

namespace stoker {
namespace {

constexpr double kMostPixels = 0x1p40;  // the sides of every format are below 2^32
constexpr double kMostSide = 1 << 16;

ImageChannels ChannelsOf(const std::string& name) {
  if (name == "grey") return ImageChannels::kGrey;
  if (name == "index") return ImageChannels::kIndex;
  if (name == "index16") return ImageChannels::kIndex16;
  return name == "rgb" ? ImageChannels::kRgb : ImageChannels::kAsStored;
}

// One plane of numbers of two bytes.
Array Widened(const PixelRows& rows, const ImageRegion& region, Scratch& scratch) {
  Array plane = scratch.NewArray(DType::kInt32, {1, region.height, region.width});
  int32_t* out = plane.values<int32_t>().data();
  for (int64_t y = 0; y < region.height; ++y, out += region.width)
    std::copy_n(reinterpret_cast<const uint16_t*>(rows.row(y)), region.width, out);
  return plane;
}

Result<Array> Planes(const PixelRows& rows, const ImageRegion& region, int channels,
                     Scratch& scratch) {
  Array planes = scratch.NewArray(DType::kUInt8, {channels, region.height, region.width});
  const bool whole =
      CopyToSlot({.data = rows.data,
                  .height = region.height,
                  .width = region.width,
                  .channels = channels,
                  .row_stride = rows.stride},
                 {},
                 PixelSlot::Of(DType::kUInt8, planes.data(), region.height, region.width, channels,
                               /*channels_last=*/false),
                 ResampleScratchOfThisThread());
  if (!whole) return Cancelled("decode: asked to stop");
  return planes;
}

class DecodeTransform final : public Transform, public PictureDecoder {
 public:
  DecodeTransform(size_t field, const DecodeOptions& options, int64_t fast_scale_side,
                  PictureNames names)
      : field_(field),
        options_(options),
        fast_scale_side_(fast_scale_side),
        names_(std::move(names)) {}

  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    Array& image = element.arrays[field_];
    const std::span<const std::byte> bytes{image.data(), image.num_bytes()};
    const std::string name = names_.NameOf(element);
    STOKER_ASSIGN_OR_RETURN(const ImageInfo info, ProbeImage(bytes, name, options_));
    const ImageRegion region = WholeImage(info, FastScaleOf(info));
    DecodeScratch memory = DecodeScratchFrom(scratch);
    const int64_t stride = region.width * info.pixel_bytes();
    const Array interleaved = scratch.NewArray(DType::kUInt8, {region.height, stride});
    const PixelRows rows{interleaved.values<uint8_t>().data(), stride};
    STOKER_RETURN_IF_ERROR(DecodeImageRegion(bytes, name, info, region, options_, rows, memory));
    if (info.value_bytes == 2) {
      image = Widened(rows, region, scratch);
      return OkStatus();
    }
    STOKER_ASSIGN_OR_RETURN(image, Planes(rows, region, info.channels, scratch));
    return OkStatus();
  }

  bool random() const override { return false; }

  std::optional<size_t> picture_field() const override {
    return options_.channels == ImageChannels::kIndex16 ? std::nullopt : std::optional(field_);
  }
  const DecodeOptions& decode_options() const override { return options_; }
  // The smallest JPEG scale whose shorter side still has as many pixels as the option says.
  int FastScaleOf(const ImageInfo& info) const override {
    int scale = 1;
    while (fast_scale_side_ > 0 && scale * 2 <= info.max_fast_scale &&
           FastScaledExtent(std::min(info.height, info.width), scale * 2) >= fast_scale_side_)
      scale *= 2;
    return scale;
  }

 private:
  const size_t field_;
  const DecodeOptions options_;
  const int64_t fast_scale_side_;
  const PictureNames names_;
};

Result<std::optional<std::array<uint8_t, 3>>> BackgroundOf(const std::vector<int64_t>& values) {
  if (values.empty()) return std::nullopt;
  if (values.size() != 1 && values.size() != 3) {
    return InvalidArgument(
        "decode: background has {} values; give one grey, or red, green and blue, 0 to 255",
        values.size());
  }
  const auto at = [&](size_t c) {
    return static_cast<uint8_t>(values[values.size() == 1 ? 0 : c]);
  };
  return std::array<uint8_t, 3>{at(0), at(1), at(2)};
}

Status CheckField(const Field& field) {
  if (field.dtype == DType::kUInt8 && field.shape.size() == 1) return OkStatus();
  const bool batched = field.shape.size() == 2;
  return InvalidArgument(
      "decode: field '{}' is {}{}; it must be uint8[?], the bytes of a file{}", field.name,
      DTypeName(field.dtype), ShapeToString(field.shape),
      batched ? ": put decode before batch" : ", as `folder` or `files: {read: true}` give them");
}

}  // namespace

void Decode::Describe(OptionTable<Decode>& table) {
  table
      .Field(
          "channels", &Decode::channels,
          "which come out: rgb (of grey pictures three equal ones), grey (the luma), as_stored; of "
          "PNG masks the numbers that are stored, a palette's indices or unscaled grey: index, "
          "or index16 (to 65535, int32)",
          OneOf{{"rgb", "grey", "as_stored", "index", "index16"}})
      .Field("orientation", &Decode::orientation,
             "apply: turn pictures upright as their EXIF says; ignore: as they are stored",
             OneOf{{"apply", "ignore"}})
      .Field("background", &Decode::background,
             "colour behind transparent pixels: one grey or red, green, blue; empty: alpha is "
             "dropped",
             Between(0, 255))
      .Field("jpeg_warnings", &Decode::jpeg_warnings,
             "damaged or missing data of a JPEG: error, or ignore and go on with pixels made up",
             OneOf{{"error", "ignore"}})
      .Field("max_pixels", &Decode::max_pixels,
             "larger pictures, by their header, are refused before memory is asked for",
             Between(1, kMostPixels))
      .Field("fast_scale_side", &Decode::fast_scale_side,
             "JPEG: decoded 2, 4 or 8 times smaller, as far as the shorter side keeps so many "
             "pixels: faster, other pixels; 0: never",
             Between(0, kMostSide))
      .Field("field", &Decode::field, "field to decode");
}

Result<Dataset> Decode::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  STOKER_RETURN_IF_ERROR(CheckField(input.spec().fields[index]));
  DecodeOptions options{.channels = ChannelsOf(channels),
                        .apply_orientation = orientation == "apply",
                        .jpeg_warnings_are_errors = jpeg_warnings == "error",
                        .limits = {.max_pixels = max_pixels}};
  STOKER_ASSIGN_OR_RETURN(options.background, BackgroundOf(background));
  Spec output = input.spec();
  const int64_t planes = channels == "rgb" ? 3 : channels == "as_stored" ? kUnknownDim : 1;
  output.fields[index].shape = {planes, kUnknownDim, kUnknownDim};
  if (options.channels == ImageChannels::kIndex16) output.fields[index].dtype = DType::kInt32;
  auto transform = std::make_shared<DecodeTransform>(index, options, fast_scale_side,
                                                     PictureNames(input, index));
  return MapDataset(std::move(input), std::string(kName), fmt::format("{}, {}", field, channels),
                    std::move(output), std::move(transform));
}

}  // namespace stoker
