#include "stoker/image/encode_png.h"

#include <spng.h>

#include <cstdlib>
#include <memory>

#include "stoker/base/stop_counter.h"

namespace stoker {
namespace {

Status CheckPixels(const Array& pixels) {
  const Shape& shape = pixels.shape();
  if (pixels.dtype() == DType::kUInt8 && shape.size() == 3 && pixels.num_values() > 0 &&
      (shape[2] == 1 || shape[2] == 3) && shape[0] < (int64_t{1} << 31) &&
      shape[1] < (int64_t{1} << 31))
    return OkStatus();
  return InvalidArgument(
      "PNG: {} cannot be written; it must be uint8 [height, width, 1 or 3] with at least one pixel",
      pixels.ToString());
}

// Row by row, so that it can be stopped. Returns libspng's code; SPNG_EOI where it was stopped.
int EncodeRows(spng_ctx* context, const Array& pixels) {
  const int64_t height = pixels.shape()[0], width = pixels.shape()[1];
  const size_t row_bytes = pixels.num_bytes() / static_cast<size_t>(height);
  int error = spng_encode_image(context, nullptr, 0, SPNG_FMT_PNG,
                                SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
  StopCounter stop;
  for (int64_t y = 0; y < height && error == 0; ++y) {
    if (stop.Asked(width)) return SPNG_EOI;
    error = spng_encode_row(context, pixels.data() + static_cast<size_t>(y) * row_bytes, row_bytes);
    if (error == SPNG_EOI && y + 1 == height) error = 0;
  }
  return error;
}

}  // namespace

Result<std::string> EncodePng(const Array& pixels) {
  STOKER_RETURN_IF_ERROR(CheckPixels(pixels));
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(SPNG_CTX_ENCODER),
                                                                    &spng_ctx_free);
  if (!context) return ResourceExhausted("PNG: no memory for its encoder");
  spng_ihdr header = {};
  header.height = static_cast<uint32_t>(pixels.shape()[0]);
  header.width = static_cast<uint32_t>(pixels.shape()[1]);
  header.bit_depth = 8;
  header.color_type =
      pixels.shape()[2] == 1 ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR;
  int error = spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1);
  if (error == 0) error = spng_set_ihdr(context.get(), &header);
  if (error == 0) error = EncodeRows(context.get(), pixels);
  if (error == SPNG_EOI) return Cancelled("PNG: asked to stop while it was written");
  size_t size = 0;
  const std::unique_ptr<void, decltype(&std::free)> file(
      error == 0 ? spng_get_png_buffer(context.get(), &size, &error) : nullptr, &std::free);
  if (!file)
    return Status(
        error == SPNG_EMEM ? StatusCode::kResourceExhausted : StatusCode::kUnimplemented,
        fmt::format("PNG: {} cannot be written: {}", pixels.ToString(), spng_strerror(error)));
  return std::string(static_cast<const char*>(file.get()), size);
}

}  // namespace stoker
