#include "stoker/formats/chunked/stored_values.h"

#include <bit>
#include <cstring>
#include <limits>

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little);

uint16_t Swapped(uint16_t value) { return __builtin_bswap16(value); }
uint32_t Swapped(uint32_t value) { return __builtin_bswap32(value); }
uint64_t Swapped(uint64_t value) { return __builtin_bswap64(value); }

// Works in place: the values of From lie at the end of the memory and are no longer than To, so
// each is read before it is overwritten.
template <typename From, typename To>
void Convert(const StoredValue& stored, std::byte* values, size_t count) {
  const std::byte* const from = values + count * (sizeof(To) - sizeof(From));
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    const To wide = stored.big_endian ? Swapped(value) : value;
    std::memcpy(values + i * sizeof(To), &wide, sizeof(To));
  }
}

void ConvertBools(std::byte* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = std::byte{values[i] != std::byte{0}};
}

Status ConvertUnsigned64(const StoredValue& stored, std::byte* values, size_t count) {
  Convert<uint64_t, uint64_t>(stored, values, count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t value;
    std::memcpy(&value, values + i * sizeof(value), sizeof(value));
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return OutOfRange("the number {} is larger than int64 can hold", value);
  }
  return OkStatus();
}

}  // namespace

Result<DType> StoredValue::ToDType() const {
  const auto none = [&](const char* what) {
    return Unimplemented("{} of {} bytes are not known", what, bytes);
  };
  switch (kind) {
    case StoredKind::kBool: return bytes == 1 ? Result<DType>(DType::kBool) : none("booleans");
    case StoredKind::kBFloat16: return DType::kBFloat16;
    case StoredKind::kSigned:
      switch (bytes) {
        case 1: return DType::kInt8;
        case 2: return DType::kInt16;
        case 4: return DType::kInt32;
        case 8: return DType::kInt64;
        default: return none("integers");
      }
    case StoredKind::kUnsigned:
      switch (bytes) {
        case 1: return DType::kUInt8;
        case 2: return DType::kInt32;
        case 4:
        case 8: return DType::kInt64;
        default: return none("integers");
      }
    case StoredKind::kFloat:
      switch (bytes) {
        case 2: return DType::kFloat16;
        case 4: return DType::kFloat32;
        case 8: return DType::kFloat64;
        default: return none("floating-point numbers");
      }
  }
  return none("numbers");
}

bool StoredValue::IsNative() const {
  if (kind == StoredKind::kBool) return false;
  const bool as_it_is = kind != StoredKind::kUnsigned || bytes == 1;
  return as_it_is && (bytes == 1 || !big_endian);
}

Status ConvertStored(const StoredValue& stored, std::byte* values, size_t count) {
  if (stored.IsNative()) return OkStatus();
  if (stored.kind == StoredKind::kBool) {
    ConvertBools(values, count);
  } else if (stored.kind == StoredKind::kUnsigned) {
    if (stored.bytes == 2) Convert<uint16_t, int32_t>(stored, values, count);
    if (stored.bytes == 4) Convert<uint32_t, int64_t>(stored, values, count);
    if (stored.bytes == 8) return ConvertUnsigned64(stored, values, count);
  } else {
    if (stored.bytes == 2) Convert<uint16_t, uint16_t>(stored, values, count);
    if (stored.bytes == 4) Convert<uint32_t, uint32_t>(stored, values, count);
    if (stored.bytes == 8) Convert<uint64_t, uint64_t>(stored, values, count);
  }
  return OkStatus();
}

}  // namespace stoker
