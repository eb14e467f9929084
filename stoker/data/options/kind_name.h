// The names that users may give to their own kinds (run/kinds.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Errors: kInvalidArgument if `taken` has the name, if it has another meaning in recipes, or if it
// is not made of a-z, 0-9 and _ as those of Stoker are.
//   noun  "operator", "metric" and so on
Status CheckKindName(std::string_view noun, std::string_view name,
                     const std::vector<std::string>& taken);

}  // namespace stoker
