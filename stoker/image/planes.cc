#include "stoker/image/planes.h"

#include <vector>

namespace stoker {

Result<Array> DecodePlanes(const EncodedImage& image, const ImageLimits& limits,
                           ProbeFunction* probe, DecodeFunction* decode) {
  const DecodeOptions options{.channels = ImageChannels::kAsStored, .limits = limits};
  STOKER_ASSIGN_OR_RETURN(ImageInfo info, probe(image, options));
  info.orientation = 1;
  const auto channels = static_cast<size_t>(info.channels);
  const auto pixels = static_cast<size_t>(info.height * info.width);
  std::vector<uint8_t> interleaved(channels * pixels);
  const PixelRows rows{interleaved.data(), info.width * info.channels};
  DecodeScratch scratch;
  STOKER_RETURN_IF_ERROR(decode(image, info, WholeImage(info), options, rows, scratch));
  Array planes = Array::Allocate(DType::kUInt8, {info.channels, info.height, info.width});
  uint8_t* out = planes.values<uint8_t>().data();
  for (size_t channel = 0; channel < channels; ++channel) {
    for (size_t pixel = 0; pixel < pixels; ++pixel)
      *out++ = interleaved[pixel * channels + channel];
  }
  return planes;
}

}  // namespace stoker
