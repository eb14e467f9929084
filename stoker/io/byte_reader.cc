#include "stoker/io/byte_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stoker {
namespace {

constexpr size_t kWindowBytes = 64 << 10;

}  // namespace

ByteReader::ByteReader(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), window_(bytes) {}

ByteReader::ByteReader(ByteSource& source)
    : source_(&source), name_(source.name()), window_position_(source.position()) {}

Status ByteReader::CutShort(uint64_t wanted, std::string_view there, uint64_t at,
                            std::string_view what) const {
  return DataLoss(
      "{}: byte {}: {} bytes{}{} wanted, {} there; the data is cut short or announces too much: "
      "copy or download the file again",
      name_, at, wanted, what.empty() ? "" : " of ", what, there);
}

Result<size_t> ByteReader::Fill(size_t bytes) {
  if (buffered() >= bytes || source_ == nullptr) return std::min(buffered(), bytes);
  storage_.resize(kWindowBytes);
  size_t filled = buffered();
  if (filled > 0) std::memmove(storage_.data(), window_.data() + cursor_, filled);
  window_position_ += cursor_;
  cursor_ = 0;
  window_ = std::span(storage_).first(filled);
  while (filled < bytes) {
    STOKER_ASSIGN_OR_RETURN(const size_t got, source_->Read(std::span(storage_).subspan(filled)));
    if (got == 0) break;
    filled += got;
    window_ = std::span(storage_).first(filled);
  }
  return std::min(filled, bytes);
}

Result<std::span<const std::byte>> ByteReader::Peek(size_t count) {
  STOKER_ASSIGN_OR_RETURN(const size_t there, Fill(std::min(count, kWindowBytes)));
  return window_.subspan(cursor_, there);
}

Status ByteReader::ReadBytes(std::span<std::byte> out, std::string_view what) {
  const uint64_t start = position();
  size_t done = std::min(buffered(), out.size());
  if (done > 0) std::memcpy(out.data(), window_.data() + cursor_, done);
  cursor_ += done;
  if (done < out.size() && source_ != nullptr) {
    STOKER_ASSIGN_OR_RETURN(const size_t got, out.size() - done < kWindowBytes
                                                  ? ReadThroughWindow(out.subspan(done))
                                                  : ReadDirectly(out.subspan(done)));
    done += got;
  }
  if (done == out.size()) return OkStatus();
  return CutShort(out.size(), fmt::format("{}", done), start, what);
}

Result<size_t> ByteReader::ReadThroughWindow(std::span<std::byte> out) {
  STOKER_ASSIGN_OR_RETURN(const size_t there, Fill(out.size()));
  if (there > 0) std::memcpy(out.data(), window_.data() + cursor_, there);
  cursor_ += there;
  return there;
}

Result<size_t> ByteReader::ReadDirectly(std::span<std::byte> out) {
  Result<size_t> got = source_->ReadFully(out);
  window_ = {};
  cursor_ = 0;
  window_position_ = source_->position();
  return got;
}

Status ByteReader::Skip(uint64_t bytes, std::string_view what) {
  const uint64_t start = position();
  uint64_t left = bytes;
  while (left > 0) {
    STOKER_ASSIGN_OR_RETURN(const size_t there,
                            Fill(std::min<uint64_t>(left, source_ ? kWindowBytes : buffered())));
    if (there == 0) return CutShort(bytes, fmt::format("{}", bytes - left), start, what);
    cursor_ += there;
    left -= there;
  }
  return OkStatus();
}

Status ByteReader::CheckAvailable(uint64_t bytes, std::string_view what) const {
  const SizeBound bound =
      source_ != nullptr ? source_->size_bound() : SizeBound{window_.size(), true};
  const uint64_t there = bound.bytes - std::min(bound.bytes, position());
  if (bytes <= there) return OkStatus();
  return CutShort(bytes, fmt::format("{}{}", bound.exact ? "" : "at most ", there), position(),
                  what);
}

Status ByteReader::ExpectEnd() {
  STOKER_ASSIGN_OR_RETURN(const size_t there, Fill(1));
  if (there == 0) return OkStatus();
  return DataLoss(
      "{}: byte {}: the data should end here, but more follows; is the announced size right?",
      name_, position());
}

template <typename T, bool kBigEndian>
Result<T> ByteReader::ReadInteger(std::string_view what) {
  std::byte bytes[sizeof(T)];
  STOKER_RETURN_IF_ERROR(ReadBytes(bytes, what));
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    const size_t shift = 8 * (kBigEndian ? sizeof(T) - 1 - i : i);
    value = static_cast<T>(value | static_cast<T>(bytes[i]) << shift);
  }
  return value;
}

Result<uint8_t> ByteReader::ReadU8(std::string_view what) {
  return ReadInteger<uint8_t, false>(what);
}
Result<uint16_t> ByteReader::ReadU16Le(std::string_view what) {
  return ReadInteger<uint16_t, false>(what);
}
Result<uint16_t> ByteReader::ReadU16Be(std::string_view what) {
  return ReadInteger<uint16_t, true>(what);
}
Result<uint32_t> ByteReader::ReadU32Le(std::string_view what) {
  return ReadInteger<uint32_t, false>(what);
}
Result<uint32_t> ByteReader::ReadU32Be(std::string_view what) {
  return ReadInteger<uint32_t, true>(what);
}
Result<uint64_t> ByteReader::ReadU64Le(std::string_view what) {
  return ReadInteger<uint64_t, false>(what);
}
Result<uint64_t> ByteReader::ReadU64Be(std::string_view what) {
  return ReadInteger<uint64_t, true>(what);
}

}  // namespace stoker
