#include "stoker/tools/trainer/sample_file.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "stoker/data/sources/idx.h"
#include "stoker/formats/idx/idx.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/image/png.h"
#include "stoker/image/pnm.h"
#include "stoker/io/file.h"
#include "stoker/tools/content.h"

namespace stoker {
namespace {

Result<Array> OnePicture(const Result<Array>& picture) {
  if (!picture.ok()) return picture.status();
  Shape shape = picture->shape();
  shape.insert(shape.begin(), 1);
  return picture->Reshaped(std::move(shape));
}

Result<Array> ReadIdxImages(const std::string& path, int64_t limit) {
  STOKER_ASSIGN_OR_RETURN(const Array array, ReadIdx(path));
  STOKER_ASSIGN_OR_RETURN(Shape shape, IdxImageShape(path, array.shape()));
  const int64_t there = array.shape().front();
  shape.insert(shape.begin(), there);
  return array.Reshaped(std::move(shape)).Rows(0, limit == 0 ? there : std::min(limit, there));
}

bool IsPnm(std::string_view prefix) {
  return prefix.size() > 2 && prefix[0] == 'P' && prefix[1] >= '1' && prefix[1] <= '6' &&
         std::string_view(" \t\r\n#").find(prefix[2]) != std::string_view::npos;
}

}  // namespace

Result<Array> ReadSamples(const std::string& path, int64_t limit) {
  STOKER_ASSIGN_OR_RETURN(const std::string prefix, ReadContentPrefix(path));
  const FileKind kind = ProbeFile(std::as_bytes(std::span(prefix)));
  if (kind == FileKind::kIdx) return ReadIdxImages(path, limit);
  if (kind != FileKind::kPng && !IsPnm(prefix)) {
    return DataLoss("{}: this is {}; images may be IDX (plain or .gz), PNG, PGM or PPM", path,
                    FileKindName(kind));
  }
  STOKER_ASSIGN_OR_RETURN(const Buffer bytes, ReadWholeFile(path));
  const std::span<const std::byte> picture(bytes.data(), bytes.size());
  return OnePicture(kind == FileKind::kPng ? DecodePng(picture, path) : DecodePnm(picture, path));
}

}  // namespace stoker
