// Makes untrusted text safe to print.
//
// Names of files, fields, classes and servers may hold any bytes. A terminal executes the escape
// sequences in them, a line break forges an entry of a log, and bidirectional controls disguise a
// name. Everything that is printed goes through here.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// Returns `text` with each of these written as an escape:
//   control characters, among them line breaks and tabs   \n, \t, \r, \u001b
//   line and paragraph separators, bidirectional controls  \u2028, \u202e
//   noncharacters of the basic plane                       \ufdd0
//   bytes that are not UTF-8                                \xff
// The result is UTF-8 on one line. Backslashes are kept, so Windows paths are not doubled and the
// function is idempotent.
std::string Printable(std::string_view text);

// The same for text of several lines: keeps '\n' and '\t'. The escapes are valid in JSON strings,
// so a JSON text keeps its value.
std::string PrintableLines(std::string_view text);

// Returns whether Printable changes nothing.
bool IsPrintable(std::string_view text);

}  // namespace stoker
