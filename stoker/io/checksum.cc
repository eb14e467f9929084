#include "stoker/io/checksum.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace stoker {

uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t previous) {
  // isa-l's function takes the length as an int and leaves the inversions before and after to its
  // caller; it does not write to what it takes as a pointer to non-const.
  constexpr size_t kMaxPart = size_t{1} << 30;
  uint32_t state = ~previous;
  while (!bytes.empty()) {
    const size_t part = std::min(bytes.size(), kMaxPart);
    auto* const data =
        const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    state = crc32_iscsi(data, static_cast<int>(part), state);
    bytes = bytes.subspan(part);
  }
  return ~state;
}

uint32_t Crc32(std::span<const std::byte> bytes, uint32_t previous) {
  return crc32_gzip_refl(previous, reinterpret_cast<const unsigned char*>(bytes.data()),
                         bytes.size());
}

uint32_t Crc32c(std::string_view bytes, uint32_t previous) {
  return Crc32c(std::as_bytes(std::span(bytes)), previous);
}

uint32_t Crc32(std::string_view bytes, uint32_t previous) {
  return Crc32(std::as_bytes(std::span(bytes)), previous);
}

}  // namespace stoker
