#include "stoker/formats/tfrecord/record_check.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

// The frame that begins `bytes`, where it has its length's checksum and all of it is there.
std::optional<std::span<const std::byte>> FrameAt(std::span<const std::byte> bytes) {
  if (bytes.size() < kTfRecordFrameBytes) return std::nullopt;
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > bytes.size() - kTfRecordFrameBytes) return std::nullopt;
  if (!BeginsTfRecord(bytes.first(kTfRecordHeaderBytes))) return std::nullopt;
  return bytes.first(kTfRecordFrameBytes + length);
}

bool HasDataChecksum(std::span<const std::byte> frame) {
  uint32_t stored = 0;
  std::memcpy(&stored, frame.last(kTfRecordFooterBytes).data(), sizeof(stored));
  const std::span<const std::byte> data =
      frame.subspan(kTfRecordHeaderBytes, frame.size() - kTfRecordFrameBytes);
  return MaskCrc32c(Crc32c(data)) == stored;
}

// How many bytes from the begin of `bytes` on the next whole record begins; all where there is
// none.
uint64_t LostBytes(std::span<const std::byte> bytes) {
  for (uint64_t lost = 1; lost < bytes.size(); ++lost) {
    const auto frame = FrameAt(bytes.subspan(lost));
    if (frame && HasDataChecksum(*frame)) return lost;
  }
  return bytes.size();
}

}  // namespace

TfRecordCheck CheckTfRecords(std::span<const std::byte> bytes) {
  TfRecordCheck check;
  for (uint64_t at = 0; at < bytes.size();) {
    const std::span<const std::byte> rest = bytes.subspan(at);
    if (const auto frame = FrameAt(rest)) {
      if (!HasDataChecksum(*frame)) {
        check.damages.push_back({TfRecordDamage::Kind::kData, at, frame->size(), check.records});
      }
      ++check.records;
      at += frame->size();
      continue;
    }
    const uint64_t lost = LostBytes(rest);
    check.damages.push_back(
        {lost == rest.size() ? TfRecordDamage::Kind::kCut : TfRecordDamage::Kind::kFrames, at, lost,
         check.records});
    at += lost;
  }
  return check;
}

}  // namespace stoker
