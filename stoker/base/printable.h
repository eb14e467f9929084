// Text that a terminal or a log shows as characters and never obeys.
//
// Names come from anywhere: a file's, a field's, a class's, a server's. A terminal takes an ESC
// among them for a command, a log takes a line break for the end of an entry, and bidirectional
// controls show a name as another one. What is printed goes through here.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// `text` with each of these written as an escape:
//   control characters, among them line breaks and tabs   \n, \t, \r, \u001b
//   line and paragraph separators, bidirectional controls  \u2028, \u202e
//   noncharacters of the basic plane                       \ufdd0
//   bytes that are no UTF-8                                \xff
// So the result is UTF-8 on one line. A backslash stays as it is: a Windows path is not doubled,
// and what has been escaped already is not escaped again.
std::string Printable(std::string_view text);

// The same for text of several lines: '\n' and '\t' stay. In a JSON text the escapes are JSON's
// own, so it stays the same JSON.
std::string PrintableLines(std::string_view text);

// Whether Printable changes nothing.
bool IsPrintable(std::string_view text);

}  // namespace stoker
