// Figures and tables as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// The nearest whole number with a comma every three digits: 1234567.8 is "1,234,568".
std::string WithThousands(double number);

// Four digits, but all of those in front of the point: "0.01234", "7.912", "168.5", "15,140".
std::string FigureText(double number);

// "1 page", "1,201 pages"; `nouns` is for those that do not take an s.
std::string CountText(int64_t count, std::string_view noun, std::string_view nouns = {});

// "65 bytes", "1 to 4 labels": a range, or the one number where it has one; "1 to 4" without a
// noun.
std::string RangeText(int64_t least, int64_t most, std::string_view noun = {});

// "812 B", "3.4 kB", "1.3 GB": powers of 1000, two or three digits.
std::string ByteText(uint64_t bytes);

// Columns padded to their widest cell, two spaces apart, `indent` spaces in front; a row may have
// fewer cells than others. Cells are shown as Printable has them.
std::string TableText(const std::vector<std::vector<std::string>>& rows, size_t indent = 0);

// The rows of such a table, its heading first: where there are more than 24, the first 12, one that
// counts those left out by what they have in their second column, and the last 3.
std::vector<std::vector<std::string>> ShortRows(std::vector<std::vector<std::string>> rows);

// "0.42 s", "3.1 s", "42 s", "3 min 05 s", "2 h 07 min".
std::string DurationText(double seconds);

// The text as one word of a command line, in quotes where a shell would see anything else in it,
// and as $'...' (bash, zsh) where a terminal would.
std::string ShellWord(std::string_view text);

}  // namespace stoker
