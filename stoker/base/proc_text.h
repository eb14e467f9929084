// Parses the small texts of /proc and /sys.
//
// None of these functions fails: what is not as the kernel writes it counts as absent, because a
// kernel, a container or a simulator may leave anything out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Returns the content of a small file, at most its first MiB, without the line break at its end.
// Empty if it cannot be read.
std::string ReadSmallText(const std::filesystem::path& path);

std::vector<std::string_view> SplitLines(std::string_view text);

// Returns `text` without the spaces and tabs at both ends.
std::string_view Trimmed(std::string_view text);

// Returns the parts of `text` between spaces and tabs.
std::vector<std::string_view> SplitWords(std::string_view text);

// Returns the number that `text` consists of (spaces around it aside); none if it is something
// else, negative, or beyond int64_t.
std::optional<int64_t> ParseCount(std::string_view text);

// Returns the text after "KEY" and the following colon (spaces aside), in the first line that
// begins with it: of "MemTotal:  24 kB" with the key "MemTotal" it is "24 kB". None if there is no
// such line.
std::optional<std::string_view> ValueOf(std::string_view text, std::string_view key);

// Returns the number after "KEY" and a space, in the first line that begins with both: of "pswpin
// 12", as in /proc/vmstat and the `stat` files of control groups, it is 12. None if there is no
// such line.
std::optional<int64_t> CountOf(std::string_view text, std::string_view key);

// Returns the bytes of a line of /proc/meminfo, which counts in "kB" of 1024 bytes.
std::optional<int64_t> MeminfoBytes(std::string_view meminfo, std::string_view key);

// Returns the numbers of a list such as "0-3,8,10-11", ascending. A part that is no range is left
// out, and so is what lies beyond 65,535.
std::vector<int> ParseCpuList(std::string_view text);

// Returns the word in brackets of "always [madvise] never"; empty if there is none.
std::string_view ChosenWord(std::string_view text);

}  // namespace stoker
