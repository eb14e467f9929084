// Finding files by patterns.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Whether `path` has a character that stands for others: * ? [
bool IsGlob(const std::string& path);

// A pattern that stands for `path` itself, whatever characters it has, here and in io/braces.h.
std::string EscapeGlob(const std::string& path);

// The path that `pattern` stands for, which IsGlob says is none: without its backslashes.
std::string UnescapeGlob(const std::string& pattern);

// The files and directories that match `pattern`, sorted by their bytes, at least one:
//   *      any number of characters within one part of the path   logs/*.txt, */*.jpg
//   ?      one character
//   [a-c]  one of these; [!a-c]: one that is none of them
// A name that begins with a dot is matched only where the pattern has the dot; a backslash takes a
// character literally. Errors: kNotFound where nothing matches (the message says up to where the
// path is there); kPermissionDenied and others where a directory cannot be read.
Result<std::vector<std::string>> ExpandGlob(const std::string& pattern);

}  // namespace stoker
