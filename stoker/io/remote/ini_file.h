// The text of ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace stoker {

using IniSection = std::map<std::string, std::string, std::less<>>;

// By section, without "profile " in front of its name, then by key. Lines of settings that belong
// to another ("s3 =" and below it, indented, "addressing_style = path") have both names:
// "s3.addressing_style". What is no section, setting or comment (# or ; at the start of a line, or
// behind a blank) is passed over: other programs' settings are none of ours. A section or key that
// is there twice has the later value.
std::map<std::string, IniSection, std::less<>> ParseIni(std::string_view text);

}  // namespace stoker
