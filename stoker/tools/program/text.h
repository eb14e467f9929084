// Formats figures and tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Returns the nearest whole number with a comma every three digits: 1234567.8 is "1,234,568".
std::string WithThousands(double number);

// Returns four digits, but all digits before the decimal point: "0.01234", "7.912", "168.5",
// "15,140".
std::string FigureText(double number);

// "1 page", "1,201 pages"; `nouns`: an irregular plural.
std::string CountText(int64_t count, std::string_view noun, std::string_view nouns = {});

// "65 bytes", "1 to 4 labels": a range, or one number; "1 to 4" without a noun.
std::string RangeText(int64_t least, int64_t most, std::string_view noun = {});

// "812 B", "3.4 kB", "1.3 GB": powers of 1000, two or three digits.
std::string ByteText(uint64_t bytes);

// Returns columns padded to their widest cell, two spaces apart, indented by `indent` spaces; a row
// may have fewer cells than others. Cells go through Printable.
std::string TableText(const std::vector<std::vector<std::string>>& rows, size_t indent = 0);

// Returns the rows of such a table, its heading first: of more than 24 rows, the first 12, one that
// counts the omitted ones by their second column, and the last 3.
std::vector<std::vector<std::string>> ShortRows(std::vector<std::vector<std::string>> rows);

// "0.42 s", "3.1 s", "42 s", "3 min 05 s", "2 h 07 min".
std::string DurationText(double seconds);

// Returns the text as one word of a command line, in quotes if a shell would interpret it, and as
// $'...' (bash, zsh) if a terminal would.
std::string ShellWord(std::string_view text);

// Returns the words as one line for a shell.
std::string ShellWords(std::span<const std::string> words);

}  // namespace stoker
