// Letters of 5 x 7 dots, for pictures that are made without a font library.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

inline constexpr int64_t kGlyphColumns = 5;
inline constexpr int64_t kGlyphRows = 7;

// The rows from the top, '#' where a dot is, one space between them. Capitals look like small
// letters; a box stands for what has no glyph.
std::string_view GlyphOf(char letter);

}  // namespace stoker
