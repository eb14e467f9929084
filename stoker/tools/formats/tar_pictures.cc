#include "stoker/tools/formats/tar_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/formats/sample_name.h"
#include "stoker/formats/tar/tar_reader.h"
#include "stoker/image/decode.h"
#include "stoker/io/byte_source.h"
#include "stoker/tools/formats/picture.h"

namespace stoker {
namespace {

constexpr uint64_t kPiece = 1 << 20;
constexpr uint64_t kMostBytes = uint64_t{2} << 30;  // that DecodeImage takes

// The data of a member, of at most kMostBytes. Memory follows what is there, not what is announced.
Status ReadData(TarInput& input, const TarMember& member, std::vector<std::byte>& data) {
  data.clear();
  while (data.size() < member.size) {
    const size_t before = data.size();
    data.resize(before + std::min(member.size - before, kPiece));
    STOKER_ASSIGN_OR_RETURN(const size_t got,
                            input.ReadAt(member.data + before, std::span(data).subspan(before)));
    if (before + got < data.size()) {
      return DataLoss("{}: byte {}: the data of '{}' end here", input.name(),
                      member.data + before + got, member.name);
    }
  }
  return OkStatus();
}

// Decodes a picture. What is of a kind that Stoker does not read is passed over. Errors: what says
// nothing about the picture, such as no memory to decode it.
Status Decode(const TarMember& member, int64_t sample, std::span<const std::byte> data,
              Verification& out) {
  const Status status = DecodeImage(data, member.name).status();
  if (status.code() == StatusCode::kUnimplemented) return OkStatus();
  if (status.code() == StatusCode::kOutOfRange) {
    ++out.pictures_too_large;
    return OkStatus();
  }
  if (!status.ok() && status.code() != StatusCode::kDataLoss) return status;
  ++*out.pictures;
  if (status.ok()) return status;
  out.damages.push_back({.begin = member.data,
                         .bytes = member.size,
                         .what = "a picture that cannot be decoded: " + status.message(),
                         .first = sample,
                         .records = 1});
  return OkStatus();
}

}  // namespace

Status VerifyTarPictures(const std::string& path, Verification& out) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  const std::unique_ptr<TarInput> input = MakeTarInput(std::move(source));
  TarReader reader(*input);
  std::vector<std::byte> data;
  std::string key;
  int64_t sample = -1;
  out.pictures = 0;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TarMember> member, reader.Next());
    if (!member) return OkStatus();
    const std::optional<SampleName> name = SplitSampleName(member->name);
    if (name && (sample < 0 || name->key != key)) ++sample;
    if (name) key = name->key;
    if (!IsNamedAsPicture(member->name)) continue;
    if (member->size > kMostBytes) {
      ++out.pictures_too_large;
      continue;
    }
    STOKER_RETURN_IF_ERROR(ReadData(*input, *member, data));
    STOKER_RETURN_IF_ERROR(Decode(*member, std::max<int64_t>(sample, 0), data, out));
  }
}

}  // namespace stoker
