// Pieces of text that fill a given number of columns of a terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// What a terminal can show.
enum class Glyphs { kAscii, kUnicode };

// Returns how many columns a printable text takes, by Unicode's widths of characters.
size_t ColumnsOf(std::string_view text);

// Returns the text safe to print (base/printable.h), in ASCII a question mark for each other
// character, and cut to `columns`; "..." or an ellipsis ends what was cut.
std::string Cut(std::string_view text, size_t columns, Glyphs glyphs);

// The same, and filled with spaces.
std::string Fitted(std::string_view text, size_t columns, Glyphs glyphs);

// Returns the text in lines of at most `columns`, broken at spaces where there are any; at most
// `lines`, of which the last is cut.
std::vector<std::string> Wrapped(std::string_view text, size_t columns, size_t lines,
                                 Glyphs glyphs);

// Returns a bar of so many columns for a share of 0 to 1; anything else counts as the nearest of
// them.
std::string Bar(double share, size_t columns, Glyphs glyphs);

// Returns a character for each of the last `columns` values, as high as its part of the largest;
// of `largest`, if that is above 0. What is not finite is a space.
std::string Heights(std::span<const double> values, size_t columns, Glyphs glyphs,
                    double largest = 0);

}  // namespace stoker
