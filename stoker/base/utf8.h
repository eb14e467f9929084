// Whether bytes are text.
#pragma once

#include <string_view>

namespace stoker {

// Returns true for well-formed UTF-8, by table 3-7 of the Unicode standard: no surrogates, no
// overlong forms.
bool IsUtf8(std::string_view text);

}  // namespace stoker
