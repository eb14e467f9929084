// Finding files by patterns.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Returns whether `path` has a wildcard: * ? [
bool IsGlob(const std::string& path);

// Returns a pattern that matches `path` literally, here and in io/braces.h.
std::string EscapeGlob(const std::string& path);

// Returns `pattern` without its backslashes. REQUIRES: IsGlob(pattern) is false.
std::string UnescapeGlob(const std::string& pattern);

// Returns the files and directories that match `pattern`, sorted by their bytes, at least one:
//   *      any number of characters within one part of the path   logs/*.txt, */*.jpg
//   ?      one character
//   [a-c]  one of these; [!a-c]: one that is none of them
// A name that begins with a dot matches only if the pattern has the dot; a backslash makes a
// character literal. Errors: kNotFound if nothing matches (the message says which part of the path
// exists); kPermissionDenied and others if a directory cannot be read.
Result<std::vector<std::string>> ExpandGlob(const std::string& pattern);

}  // namespace stoker
