#include "stoker/formats/hdf5/content_internal.h"

#include <algorithm>
#include <array>
#include <bit>

namespace stoker::internal {
namespace {

// What libraries make heaps of texts and lists of, at least.
constexpr uint64_t kWindowBytes = 4096;

}  // namespace

Status Hdf5Content::Damaged(uint64_t at, std::string_view problem) const {
  return DataLoss("{}: byte {}: {}; the file is damaged or cut short: copy or write it again", name,
                  at, problem);
}

Hdf5Cursor::Hdf5Cursor(const Hdf5Content& file, uint64_t at)
    : file_(&file), at_(std::min<uint64_t>(at, file.bytes.size())), end_(file.bytes.size()) {
  failed_ = at > file.bytes.size();
}

Hdf5Cursor::Hdf5Cursor(const Hdf5Content& file, uint64_t at, uint64_t size) : Hdf5Cursor(file, at) {
  if (size > end_ - at_) {
    failed_ = true;
  } else {
    end_ = at_ + size;
  }
}

Hdf5Cursor& Hdf5Cursor::KeepingNothing() {
  keeps_ = file_->file.present();
  return *this;
}

const std::byte* Hdf5Cursor::Next(uint64_t bytes) {
  failed_ = failed_ || bytes > left();
  if (failed_) return nullptr;
  if (keeps_) {
    failed_ = !file_->file.Load(at_, bytes).ok();
    return failed_ ? nullptr : file_->bytes.data() + at_;
  }
  if (at_ < window_at_ || at_ + bytes > window_at_ + window_bytes_) {
    window_at_ = at_;
    window_bytes_ = std::min(left(), std::max(bytes, kWindowBytes));
    failed_ = !file_->file.View(at_, window_bytes_, window_).ok();
  }
  return failed_ ? nullptr : window_.data() + (at_ - window_at_);
}

uint64_t Hdf5Cursor::Number(int size) {
  const auto bytes = static_cast<uint64_t>(size);
  const std::byte* const from = Next(bytes);
  if (from == nullptr) return 0;
  uint64_t value = 0;
  for (uint64_t i = bytes; i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(from[i]);
  at_ += bytes;
  return value;
}

uint64_t Hdf5Cursor::Address() {
  const int size = file_->address_bytes;
  const uint64_t value = Number(size);
  if (value == kNoAddress >> (64 - 8 * size)) return kNoAddress;
  if (value > file_->bytes.size() - file_->base) {
    failed_ = true;
    return 0;
  }
  return file_->base + value;
}

std::string_view Hdf5Cursor::Text(uint64_t size) {
  const std::byte* const from = Next(size);
  if (from == nullptr) return {};
  at_ += size;
  return {reinterpret_cast<const char*>(from), size};
}

void Hdf5Cursor::Skip(uint64_t size) {
  failed_ = failed_ || size > left();
  if (!failed_) at_ += size;
}

Status Hdf5Cursor::Check(uint64_t begin, std::string_view what) const {
  if (!failed_) return OkStatus();
  return file_->Damaged(begin, fmt::format("{} is not whole, or makes no sense", what));
}

Status CheckMetadata(const Hdf5Content& file, uint64_t begin, uint64_t end, std::string_view what) {
  Hdf5Cursor stored(file, end, 4);
  const uint32_t checksum = stored.U32();
  STOKER_RETURN_IF_ERROR(stored.Check(begin, what));
  STOKER_RETURN_IF_ERROR(file.file.Load(begin, end - begin));
  if (Lookup3(file.bytes.subspan(begin, end - begin)) == checksum) return OkStatus();
  return file.Damaged(begin, fmt::format("{} lacks its checksum", what));
}

uint32_t Lookup3(std::span<const std::byte> bytes) {
  const auto word = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
      value |= std::to_integer<uint32_t>(bytes[at + i]) << 8 * i;
    return value;
  };
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(bytes.size()), b = a, c = a;
  size_t at = 0;
  for (; bytes.size() - at > 12; at += 12) {
    a += word(at), b += word(at + 4), c += word(at + 8);
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }
  if (at == bytes.size()) return c;
  a += word(at), b += word(at + 4), c += word(at + 8);
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
  return c;
}

uint32_t Fletcher32(std::span<const std::byte> bytes) {
  constexpr size_t kWords = 360;  // as many sums as fit into 32 bits
  const auto fold = [](uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  const auto byte = [&](size_t at) { return std::to_integer<uint32_t>(bytes[at]); };
  uint32_t first = 0, second = 0;
  size_t at = 0;
  while (at + 2 <= bytes.size()) {
    const size_t end = std::min(at + 2 * kWords, bytes.size() / 2 * 2);
    for (; at < end; at += 2) {
      first += byte(at) << 8 | byte(at + 1);
      second += first;
    }
    first = fold(first), second = fold(second);
  }
  if (at < bytes.size()) {
    first += byte(at) << 8;
    second += first;
    first = fold(first), second = fold(second);
  }
  return fold(second) << 16 | fold(first);
}

}  // namespace stoker::internal
