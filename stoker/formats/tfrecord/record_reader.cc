#include "stoker/formats/tfrecord/record_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "stoker/base/default_budget.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

constexpr size_t kWindowBytes = 256 << 10;
// After a record longer than a window, this much is read: a header, and a few short records.
constexpr size_t kHopBytes = 4 << 10;

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

bool HasLengthChecksum(const std::byte* header) {
  return MaskCrc32c(Crc32c({header, sizeof(uint64_t)})) ==
         Load<uint32_t>(header + sizeof(uint64_t));
}

Status CutShort(const std::string& name, uint64_t offset, int64_t number, std::string_view what) {
  return DataLoss(
      "{}: byte {}: the file ends in the middle of record {} ({}); it was cut short, or is still "
      "being written: copy or download it again",
      name, offset, number, what);
}

Status LengthDamaged(const std::string& name, uint64_t offset, int64_t number,
                     std::span<const std::byte> start) {
  if (offset == 0) {
    const FileKind kind = ProbeFile(start);
    if (kind != FileKind::kUnknown && kind != FileKind::kEmpty) {
      return DataLoss("{}: byte 0: this is {}, not TFRecord; check the path", name,
                      DescribeStart(start));
    }
    return DataLoss(
        "{}: byte 0: the length of the first record lacks its checksum; this is no TFRecord file, "
        "or it is damaged: check the path",
        name);
  }
  return DataLoss(
      "{}: byte {}: the length of record {} lacks its checksum, so nothing after it can be found; "
      "copy or download the file again",
      name, offset, number);
}

// The first bytes of a zlib stream as compressors write them: deflate, a window of 32 KiB.
bool LooksLikeZlib(std::span<const std::byte> start) {
  constexpr int kDeflate32K = 0x78;
  if (start.size() < 2 || std::to_integer<int>(start[0]) != kDeflate32K) return false;
  return (kDeflate32K << 8 | std::to_integer<int>(start[1])) % 31 == 0;
}

// By the first bytes of a file; null if it is plain.
const Decompression* CompressionOf(std::span<const std::byte> bytes) {
  if (BeginsTfRecord(bytes)) return nullptr;
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const Decompression* const found = DecompressionOfStart(start)) return found;
  return LooksLikeZlib(bytes) ? DecompressionNamed("zlib") : nullptr;
}

}  // namespace

Status TfRecordDamaged(const std::string& name, uint64_t offset, int64_t number) {
  return DataLoss(
      "{}: byte {}: the data of record {} lack their checksum; copy or download the file again, "
      "leave such records out with `on_error: skip` (a training then needs train.max_steps), or "
      "set verify: false to take them as they are",
      name, offset, number);
}

bool BeginsTfRecord(std::span<const std::byte> bytes) {
  return bytes.size() >= kTfRecordHeaderBytes && HasLengthChecksum(bytes.data());
}

Result<const Decompression*> DetectTfRecordCompression(const File& file) {
  std::array<std::byte, kTfRecordHeaderBytes> start;
  STOKER_ASSIGN_OR_RETURN(const size_t got, file.ReadUpTo(0, start));
  return CompressionOf(std::span(start).first(got));
}

Result<std::unique_ptr<ByteSource>> OpenTfRecordSource(const std::string& path,
                                                       std::string_view compression,
                                                       uint64_t offset,
                                                       std::shared_ptr<MemoryAccount> account) {
  const Decompression* packed = DecompressionNamed(compression);
  if (compression == "auto") {
    STOKER_ASSIGN_OR_RETURN(const std::string start, ReadStart(path, kTfRecordHeaderBytes));
    packed = CompressionOf(std::as_bytes(std::span(start)));
  }
  if (packed == nullptr) return OpenStoredBytes(path, offset, std::move(account));
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenStoredBytes(path, 0, account));
  source = packed->make(std::move(source), account);
  STOKER_RETURN_IF_ERROR(SkipTo(*source, offset, account));
  return source;
}

TfRecordReader::TfRecordReader(std::unique_ptr<ByteSource> source,
                               const TfRecordReaderOptions& options, int64_t number,
                               std::shared_ptr<MemoryAccount> account)
    : options_(options),
      window_(std::move(source), kWindowBytes, std::move(account)),
      number_(number) {}

Result<std::optional<TfRecord>> TfRecordReader::Next() {
  STOKER_RETURN_IF_ERROR(error_);
  Result<uint64_t> length = ReadLength();
  if (!length.ok()) {
    error_ = length.status();
    return error_;
  }
  if (window_.held().empty()) return std::nullopt;
  const std::byte* const data = window_.held().data() + kTfRecordHeaderBytes;
  TfRecord record{.data = {data, *length}, .offset = window_.offset(), .number = number_};
  record.damaged =
      options_.verify && MaskCrc32c(Crc32c(record.data)) != Load<uint32_t>(data + *length);
  window_.PassOver(kTfRecordFrameBytes + *length);
  ++number_;
  return record;
}

// The length of the next record, all of which is then held; 0 at the end, where nothing is held.
Result<uint64_t> TfRecordReader::ReadLength() {
  STOKER_ASSIGN_OR_RETURN(const bool header_there, window_.Hold(kTfRecordHeaderBytes));
  const std::span<const std::byte> held = window_.held();
  if (!header_there && held.empty()) return uint64_t{0};
  const std::string& name = window_.source().name();
  const uint64_t offset = window_.offset();
  if (!header_there || !HasLengthChecksum(held.data())) {
    if (!header_there && offset > 0) return CutShort(name, offset, number_, "in its length");
    return LengthDamaged(name, offset, number_, held.first(std::min(held.size(), kProbeBytes)));
  }
  const auto length = Load<uint64_t>(held.data());
  if (length > options_.max_bytes) {
    return DataLoss(
        "{}: byte {}: record {} announces {} bytes of data, at most {} are taken; the file is "
        "damaged, or set max_bytes",
        name, offset, number_, length, options_.max_bytes);
  }
  const SizeBound bound = window_.source().size_bound();
  if (!bound.exact && length > options_.budget_bytes) {
    return ResourceExhausted(
        "{}: byte {}: record {} announces {} bytes of data, but the memory budget is {} bytes; the "
        "file is damaged, or decompress it, or {}",
        name, offset, number_, length, options_.budget_bytes, HowToRaiseTheBudget());
  }
  const uint64_t frame = kTfRecordFrameBytes + length;
  if (bound.bytes < offset || frame > bound.bytes - offset)
    return CutShort(name, offset, number_, fmt::format("{} bytes of data announced", length));
  STOKER_ASSIGN_OR_RETURN(const bool there, window_.Hold(frame));
  if (!there)
    return CutShort(name, offset, number_, fmt::format("{} bytes of data announced", length));
  return length;
}

Result<std::span<const std::byte>> CheckTfRecordFrame(std::span<const std::byte> frame,
                                                      const std::string& name, uint64_t offset,
                                                      int64_t number, bool verify) {
  const bool fits = frame.size() >= kTfRecordFrameBytes && HasLengthChecksum(frame.data()) &&
                    Load<uint64_t>(frame.data()) == frame.size() - kTfRecordFrameBytes;
  if (!fits) {
    return DataLoss(
        "{}: byte {}: there is no record {} of {} bytes any more; the file was changed in place "
        "after it was opened: run again",
        name, offset, number, frame.size() - std::min(frame.size(), kTfRecordFrameBytes));
  }
  const std::span<const std::byte> data =
      frame.subspan(kTfRecordHeaderBytes, frame.size() - kTfRecordFrameBytes);
  if (verify && MaskCrc32c(Crc32c(data)) != Load<uint32_t>(data.data() + data.size()))
    return TfRecordDamaged(name, offset, number);
  return data;
}

Result<std::vector<uint64_t>> ScanTfRecords(const File& file) {
  std::vector<uint64_t> offsets = {0};
  std::vector<std::byte> window(kWindowBytes);
  uint64_t window_at = 0;
  size_t in_window = 0;
  uint64_t at = 0;
  size_t wanted = kWindowBytes;
  while (at < file.size()) {
    const int64_t number = std::ssize(offsets) - 1;
    if (at + kTfRecordHeaderBytes > window_at + in_window) {
      STOKER_ASSIGN_OR_RETURN(in_window, file.ReadUpTo(at, std::span(window).first(wanted)));
      window_at = at;
    }
    const std::span<const std::byte> rest =
        std::span<const std::byte>(window).subspan(at - window_at, in_window - (at - window_at));
    if (rest.size() < kTfRecordHeaderBytes && at > 0)
      return CutShort(file.path(), at, number, "in its length");
    if (rest.size() < kTfRecordHeaderBytes || !HasLengthChecksum(rest.data()))
      return LengthDamaged(file.path(), at, number, rest.first(std::min(rest.size(), kProbeBytes)));
    const auto length = Load<uint64_t>(rest.data());
    const uint64_t left = file.size() - at;
    if (left < kTfRecordFrameBytes || length > left - kTfRecordFrameBytes) {
      return CutShort(file.path(), at, number,
                      fmt::format("{} bytes of data announced, the file has {} more", length,
                                  left - std::min<uint64_t>(left, kTfRecordFrameBytes)));
    }
    at += kTfRecordFrameBytes + length;
    wanted = length > kWindowBytes ? kHopBytes : kWindowBytes;
    offsets.push_back(at);
  }
  return offsets;
}

}  // namespace stoker
