#include "stoker/formats/elements/record.h"

#include <algorithm>
#include <cstring>

#include "stoker/formats/array_bytes.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

// checksum, zero, size, index
constexpr size_t kChecksumAt = 0, kZeroAt = 4, kSizeAt = 8, kIndexAt = 16, kExtentsAt = 24;

constexpr size_t Padded(size_t bytes) {
  return (bytes + kElementAlignment - 1) / kElementAlignment * kElementAlignment;
}

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void Store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(T));
}

// `shape` with its unknown extents taken from `extents`, which moves on.
Shape KnownShape(const Shape& shape, const int64_t*& extents) {
  Shape known = shape;
  for (int64_t& extent : known)
    if (extent == kUnknownDim) extent = *extents++;
  return known;
}

}  // namespace

ElementLayout::ElementLayout(std::vector<ElementField> fields) : fields_(std::move(fields)) {
  for (const ElementField& field : fields_)
    unknown_extents_ += static_cast<size_t>(std::ranges::count(field.shape, kUnknownDim));
  if (unknown_extents_ > 0) return;
  size_t at = kExtentsAt;
  offsets_.emplace();
  for (const ElementField& field : fields_) {
    offsets_->push_back(at);
    at += Padded(static_cast<size_t>(NumValues(field.shape)) * DTypeSize(field.dtype));
  }
}

size_t ElementLayout::RecordBytes(std::span<const Array> arrays) const {
  size_t bytes = kExtentsAt + unknown_extents_ * sizeof(int64_t);
  for (const Array& array : arrays) bytes += Padded(array.num_bytes());
  return bytes;
}

void ElementLayout::Write(int64_t index, std::span<const Array> arrays, std::byte* out) const {
  const size_t size = RecordBytes(arrays);
  Store<uint32_t>(0, out + kZeroAt);
  Store<uint64_t>(size, out + kSizeAt);
  Store(index, out + kIndexAt);
  std::byte* at = out + kExtentsAt;
  for (size_t f = 0; f < fields_.size(); ++f) {
    for (size_t d = 0; d < fields_[f].shape.size(); ++d) {
      if (fields_[f].shape[d] != kUnknownDim) continue;
      Store(arrays[f].shape()[d], at);
      at += sizeof(int64_t);
    }
  }
  for (const Array& array : arrays) {
    const size_t bytes = array.num_bytes();
    if (bytes > 0) std::memcpy(at, array.data(), bytes);
    std::memset(at + bytes, 0, Padded(bytes) - bytes);
    at += Padded(bytes);
  }
  Store(Crc32c(std::span(out + kZeroAt, size - kZeroAt)), out + kChecksumAt);
}

std::optional<size_t> ElementLayout::EndOf(std::span<const int64_t> extents) const {
  uint64_t end = kExtentsAt + unknown_extents_ * sizeof(int64_t);
  const int64_t* next = extents.data();
  for (const ElementField& field : fields_) {
    const std::optional<uint64_t> bytes = ArrayBytes(field.dtype, KnownShape(field.shape, next));
    if (!bytes || __builtin_add_overflow(end, Padded(*bytes), &end)) return std::nullopt;
  }
  return end;
}

size_t ElementLayout::start_bytes() const {
  return kExtentsAt + unknown_extents_ * sizeof(int64_t);
}

uint64_t ElementLayout::SizeOf(std::span<const std::byte> start) const {
  std::vector<int64_t> extents(unknown_extents_);
  for (size_t i = 0; i < extents.size(); ++i) {
    extents[i] = Load<int64_t>(start.data() + kExtentsAt + i * sizeof(int64_t));
    if (extents[i] < 0) return 0;
  }
  const auto size = Load<uint64_t>(start.data() + kSizeAt);
  return EndOf(extents) == size ? size : 0;
}

Result<std::span<const std::byte>> ElementLayout::Check(std::span<const std::byte> bytes,
                                                        size_t offset, const std::string& name,
                                                        uint64_t begins) const {
  const auto damaged = [&](std::string_view what) {
    return DataLoss("{}: byte {}: the record {}; the file is damaged: remove it, and make it again",
                    name, begins + offset, what);
  };
  if (offset % kElementAlignment != 0 || offset > bytes.size() ||
      bytes.size() - offset < start_bytes())
    return damaged("does not lie in the file");
  const std::span<const std::byte> rest = bytes.subspan(offset);
  const uint64_t size = SizeOf(rest);
  if (size == 0) return damaged("is of another size than its arrays");
  if (size > rest.size()) return damaged("is cut short");
  if (Load<uint32_t>(rest.data() + kChecksumAt) != Crc32c(rest.subspan(kZeroAt, size - kZeroAt)))
    return damaged("does not have its checksum");
  return rest.first(size);
}

ElementLayout::Record ElementLayout::Parse(const Buffer& bytes, size_t offset) const {
  const std::byte* record = bytes.data() + offset;
  Record parsed{.index = IndexOf(record), .arrays = {}};
  std::vector<int64_t> extents(unknown_extents_);
  for (size_t i = 0; i < extents.size(); ++i)
    extents[i] = Load<int64_t>(record + kExtentsAt + i * sizeof(int64_t));
  size_t at = offset + kExtentsAt + unknown_extents_ * sizeof(int64_t);
  const int64_t* next = extents.data();
  parsed.arrays.reserve(fields_.size());
  for (const ElementField& field : fields_) {
    parsed.arrays.emplace_back(bytes, field.dtype, KnownShape(field.shape, next), at);
    at += Padded(parsed.arrays.back().num_bytes());
  }
  return parsed;
}

Result<ElementLayout::Record> ElementLayout::Read(const Buffer& bytes, size_t offset,
                                                  const std::string& name) const {
  STOKER_RETURN_IF_ERROR(Check({bytes.data(), bytes.size()}, offset, name).status());
  return Parse(bytes, offset);
}

int64_t ElementLayout::IndexOf(const std::byte* record) { return Load<int64_t>(record + kIndexAt); }

}  // namespace stoker
