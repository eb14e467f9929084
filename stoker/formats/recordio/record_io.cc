#include "stoker/formats/recordio/record_io.h"

#include <algorithm>
#include <cstring>

#include "stoker/formats/probe/file_kind.h"

namespace stoker {
namespace {

constexpr uint32_t kMagic = 0xced7230a;
constexpr size_t kHeader = 8;
constexpr size_t kImageHeader = 24;
constexpr size_t kWindowBytes = 256 << 10;
// After a part longer than a window, this much is read: a header, and a few short parts.
constexpr size_t kHopBytes = 4 << 10;

enum Flag : uint32_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

struct Part {
  uint32_t flag = 0;
  uint64_t length = 0;
  // With its header and padding.
  uint64_t frame() const { return kHeader + (length + 3) / 4 * 4; }
};

// The part whose header is `header`; false if it is none.
bool ReadPart(const std::byte* header, Part& part) {
  const auto word = Load<uint32_t>(header + sizeof(uint32_t));
  part = {.flag = word >> 29, .length = word & ((uint32_t{1} << 29) - 1)};
  return Load<uint32_t>(header) == kMagic && part.flag <= kLast;
}

// Whether a part may stand where it does: a first one needs a last one, and nothing else in
// between.
bool Follows(bool inside, uint32_t flag) {
  return inside ? flag == kMiddle || flag == kLast : flag == kWhole || flag == kFirst;
}

// Calls f(data) for each part in order; false if `frame` is not the parts of one record, and
// all of them.
template <typename F>
bool ForEachPart(std::span<const std::byte> frame, const F& f) {
  bool inside = false;
  for (size_t at = 0; at < frame.size();) {
    Part part;
    if (frame.size() - at < kHeader || !ReadPart(frame.data() + at, part) ||
        !Follows(inside, part.flag) || part.frame() > frame.size() - at)
      return false;
    f(frame.subspan(at + kHeader, part.length));
    at += part.frame();
    inside = part.flag == kFirst || part.flag == kMiddle;
    if (!inside) return at == frame.size();
  }
  return false;
}

Status NoPart(const File& file, uint64_t at, std::span<const std::byte> start) {
  const FileKind kind = at == 0 ? ProbeFile(start) : FileKind::kUnknown;
  const bool other =
      kind != FileKind::kUnknown && kind != FileKind::kEmpty && kind != FileKind::kRecordIo;
  if (other) {
    return DataLoss("{}: byte 0: this is {}, not RecordIO; check the path", file.path(),
                    DescribeStart(start));
  }
  return DataLoss(
      "{}: byte {}: no record begins here; this is no RecordIO file, or it is damaged: copy or "
      "download it again",
      file.path(), at);
}

Status CutShort(const File& file, uint64_t at) {
  return DataLoss(
      "{}: byte {}: the file ends in the middle of a record; it was cut short, or is still being "
      "written: copy or download it again",
      file.path(), at);
}

}  // namespace

Result<std::vector<uint64_t>> ScanRecordIo(const File& file) {
  std::vector<uint64_t> offsets = {0};
  std::vector<std::byte> window(kWindowBytes);
  uint64_t window_at = 0, at = 0;
  size_t in_window = 0, wanted = kWindowBytes;
  bool inside = false;
  while (at < file.size()) {
    if (at + kHeader > window_at + in_window) {
      STOKER_ASSIGN_OR_RETURN(in_window, file.ReadUpTo(at, std::span(window).first(wanted)));
      window_at = at;
    }
    const std::span<const std::byte> rest =
        std::span<const std::byte>(window).subspan(at - window_at, in_window - (at - window_at));
    if (rest.size() < kHeader && at > 0) return CutShort(file, at);
    Part part;
    if (rest.size() < kHeader || !ReadPart(rest.data(), part) || !Follows(inside, part.flag))
      return NoPart(file, at, rest.first(std::min(rest.size(), kProbeBytes)));
    if (part.frame() > file.size() - at) return CutShort(file, at);
    at += part.frame();
    wanted = part.length > kWindowBytes ? kHopBytes : kWindowBytes;
    inside = part.flag == kFirst || part.flag == kMiddle;
    if (!inside) offsets.push_back(at);
  }
  if (inside) return CutShort(file, at);
  return offsets;
}

Result<std::span<const std::byte>> RecordIoData(std::span<const std::byte> frame,
                                                std::string_view where,
                                                const RecordIoMemory& memory) {
  size_t parts = 0, bytes = 0;
  std::span<const std::byte> last;
  const bool whole = ForEachPart(frame, [&](std::span<const std::byte> data) {
    bytes += (parts++ > 0 ? sizeof(kMagic) : 0) + data.size();
    last = data;
  });
  if (!whole) {
    return DataLoss(
        "{}: there is no such record any more; the file was changed in place after it was opened: "
        "run again",
        where);
  }
  if (parts == 1) return last;
  std::byte* const joined = memory(bytes);
  std::byte* to = joined;
  ForEachPart(frame, [&](std::span<const std::byte> data) {
    if (data.data() != frame.data() + kHeader) {  // the cuts are where the magic number stood
      std::memcpy(to, &kMagic, sizeof(kMagic));
      to += sizeof(kMagic);
    }
    to = std::ranges::copy(data, to).out;
  });
  return std::span<const std::byte>(joined, bytes);
}

Result<ImageRecord> ParseImageRecord(std::span<const std::byte> record, std::string_view where) {
  if (record.size() < kImageHeader) {
    return DataLoss("{}: {} bytes are no image record, whose header alone has {}; set raw: true",
                    where, record.size(), kImageHeader);
  }
  const auto count = Load<uint32_t>(record.data());
  if (count > (record.size() - kImageHeader) / sizeof(float)) {
    return DataLoss(
        "{}: {} labels are announced, {} bytes are there; it is damaged, or set raw: true", where,
        count, record.size() - kImageHeader);
  }
  ImageRecord out{.labels = std::vector<float>(std::max<uint32_t>(count, 1)),
                  .id = Load<uint64_t>(record.data() + 8),
                  .id2 = Load<uint64_t>(record.data() + 16),
                  .image = record.subspan(kImageHeader + count * sizeof(float))};
  std::memcpy(out.labels.data(), record.data() + (count == 0 ? 4 : kImageHeader),
              out.labels.size() * sizeof(float));
  return out;
}

}  // namespace stoker
