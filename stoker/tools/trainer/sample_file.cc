#include "stoker/tools/trainer/sample_file.h"

#include <algorithm>
#include <span>

#include "stoker/data/sources/idx.h"
#include "stoker/formats/idx/idx.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/image/decode.h"
#include "stoker/image/store.h"
#include "stoker/io/file.h"
#include "stoker/tools/formats/probed_file.h"

namespace stoker {
namespace {

Result<Array> ReadIdxImages(const std::string& path, int64_t limit) {
  STOKER_ASSIGN_OR_RETURN(const Array array, ReadIdx(path));
  STOKER_ASSIGN_OR_RETURN(const Shape shape, IdxImageShape(path, array.shape()));
  const int64_t there = array.shape().front();
  return array.Reshaped(ShapeOfRows(there, shape))
      .Rows(0, limit == 0 ? there : std::min(limit, there));
}

Result<Array> DecodedPlanes(std::span<const std::byte> bytes, const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Array pixels,
                          DecodeImage(bytes, path, {.channels = ImageChannels::kAsStored}));
  const int64_t height = pixels.shape()[0], width = pixels.shape()[1];
  const int64_t channels = pixels.shape()[2];
  Array planes = Array::Allocate(DType::kUInt8, {1, channels, height, width});
  ResampleScratch scratch;
  const bool whole = CopyToSlot({.data = pixels.values<uint8_t>().data(),
                                 .height = height,
                                 .width = width,
                                 .channels = channels,
                                 .row_stride = width * channels},
                                {},
                                PixelSlot::Of(DType::kUInt8, planes.data(), height, width, channels,
                                              /*channels_last=*/false),
                                scratch);
  if (!whole) return Cancelled("{}: asked to stop", path);
  return planes;
}

}  // namespace

Result<Array> ReadSamples(const std::string& path, SampleForm form, int64_t limit) {
  STOKER_ASSIGN_OR_RETURN(const std::string prefix, ReadContentPrefix(path));
  const auto begin = std::as_bytes(std::span(prefix));
  if (ProbeFile(begin) == FileKind::kIdx && form == SampleForm::kPixels)
    return ReadIdxImages(path, limit);
  if (!DetectImageFormat(begin, path).ok()) {
    return DataLoss(
        "{}: this is {}; images may be {}JPEG, PNG, BMP, WebP or PNM; for other data leave FILE "
        "out, and data.eval of the run's recipe reads them (--set data.root=DIR, say, changes "
        "where)",
        path, DescribeStart(begin), form == SampleForm::kPixels ? "IDX, " : "");
  }
  STOKER_ASSIGN_OR_RETURN(const Buffer buffer, ReadWholeFile(path));
  const std::span<const std::byte> bytes(buffer.data(), buffer.size());
  if (form == SampleForm::kPixels) return DecodedPlanes(bytes, path);
  return Array(buffer, DType::kUInt8, {1, static_cast<int64_t>(buffer.size())});
}

}  // namespace stoker
