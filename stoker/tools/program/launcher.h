// What a launcher says about starting this program again.
#pragma once

#include <functional>

namespace stoker {

// Returns the value of an environment variable, or null.
using Variable = std::function<const char*(const char* name)>;

// How often a launcher has started this command again after a failure, and how often it would.
// Both 0: there is none, or it never does.
struct Restarts {
  int done = 0, most = 0;
};
Restarts FindRestarts(const Variable& variable);
Restarts FindRestarts();

}  // namespace stoker
