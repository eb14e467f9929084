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

// "812 B", "3.4 kB", "1.3 GB": powers of 1000, two or three digits.
std::string ByteText(uint64_t bytes);

// Columns padded to their widest cell, two spaces apart, `indent` spaces in front; a row may have
// fewer cells than others.
std::string TableText(const std::vector<std::vector<std::string>>& rows, size_t indent = 0);

// "42 s", "3 min 05 s", "2 h 07 min".
std::string DurationText(double seconds);

// The text as one word of a command line, in quotes where a shell would see anything else in it.
std::string ShellWord(std::string_view text);

}  // namespace stoker
