#include "stoker/base/short_text.h"

#include <fmt/format.h>

namespace stoker {

std::string ShortText(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  constexpr unsigned kContinuationMask = 0xc0, kContinuation = 0x80;
  constexpr size_t kLongestCharacter = 4;
  size_t end = most;
  for (size_t back = 1; back < kLongestCharacter; ++back) {
    if ((static_cast<unsigned char>(text[end]) & kContinuationMask) != kContinuation) break;
    --end;
  }
  return fmt::format("{}... ({} bytes)", text.substr(0, end), text.size());
}

}  // namespace stoker
