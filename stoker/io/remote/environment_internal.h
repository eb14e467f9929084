// Variables of the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace stoker::internal {

// Returns the value; empty if it is not set.
inline std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace stoker::internal
