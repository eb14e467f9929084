// Recognises the paths of N5 arrays.
#pragma once

#include <string>

namespace stoker {

// Whether `path` is the directory of an N5 container or dataset, or the attributes.json in one.
bool IsN5(const std::string& path);

}  // namespace stoker
