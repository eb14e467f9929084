// What text is, as bytes.
#pragma once

#include <string_view>

namespace stoker {

// What editors of Windows put at the head of a text. It is no part of the text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Returns true for well-formed UTF-8, by table 3-7 of the Unicode standard: no surrogates, no
// overlong forms.
bool IsUtf8(std::string_view text);

}  // namespace stoker
