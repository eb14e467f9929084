// The text of ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace stoker {

using IniSection = std::map<std::string, std::string, std::less<>>;

// Returns the settings by section, without the prefix "profile " of its name, then by key. A nested
// setting ("s3 =" followed by an indented "addressing_style = path") has the key
// "s3.addressing_style". Ignores comments (# or ; at the start of a line, or after a blank) and
// malformed lines, because other programs own the file. The last value of a repeated key counts.
std::map<std::string, IniSection, std::less<>> ParseIni(std::string_view text);

}  // namespace stoker
