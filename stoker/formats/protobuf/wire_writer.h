// Builds protocol buffer messages field by field (protobuf.dev/programming-guides/encoding). The
// caller knows what a field means; fields are written in the order in which they are added.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

static_assert(std::endian::native == std::endian::little,
              "values are copied as they lie in memory");

// Appends a varint without a field: 7 bits a byte, the least significant first.
inline void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// One message. All functions add a field, even if its value is the default. One thread at a time;
// cost: that of appending to a string.
class WireWriter {
 public:
  WireWriter& Varint(uint32_t field, uint64_t value) {
    AppendVarint(uint64_t{field} << 3 | kVarint, bytes_);
    AppendVarint(value, bytes_);
    return *this;
  }
  // Negative numbers take ten bytes.
  WireWriter& Int(uint32_t field, int64_t value) {
    return Varint(field, static_cast<uint64_t>(value));
  }
  WireWriter& Double(uint32_t field, double value) { return Fixed(field, kFixed64, value); }
  WireWriter& Float(uint32_t field, float value) { return Fixed(field, kFixed32, value); }
  // Adds bytes, text, or a nested message.
  WireWriter& Bytes(uint32_t field, std::string_view bytes) {
    AppendVarint(uint64_t{field} << 3 | kBytes, bytes_);
    AppendVarint(bytes.size(), bytes_);
    bytes_ += bytes;
    return *this;
  }
  WireWriter& Message(uint32_t field, const WireWriter& message) {
    return Bytes(field, message.bytes_);
  }
  // Adds a packed repeated field.
  WireWriter& PackedDoubles(uint32_t field, std::span<const double> values) {
    return Bytes(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  WireWriter& PackedFloats(uint32_t field, std::span<const float> values) {
    return Bytes(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }

  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

  template <typename T>
  WireWriter& Fixed(uint32_t field, uint64_t type, T value) {
    AppendVarint(uint64_t{field} << 3 | type, bytes_);
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
    return *this;
  }

  std::string bytes_;
};

}  // namespace stoker
