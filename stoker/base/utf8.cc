#include "stoker/base/utf8.h"

#include <cstddef>
#include <cstdint>

namespace stoker {

bool IsUtf8(std::string_view text) {
  size_t i = 0;
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(text[at]); };
  while (i < text.size()) {
    const uint8_t first = byte(i++);
    if (first < 0x80) continue;
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || text.size() - i < static_cast<size_t>(more)) return false;
    const uint8_t lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const uint8_t highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(i) < lowest || byte(i) > highest) return false;
    for (int k = 1; k < more; ++k) {
      if ((byte(i + static_cast<size_t>(k)) & 0xc0) != 0x80) return false;
    }
    i += static_cast<size_t>(more);
  }
  return true;
}

}  // namespace stoker
