// What an entry of a list in a recipe is called.
#pragma once

#include <string_view>

#include "stoker/base/config.h"

namespace stoker {

// Returns the kind (an operator, a callback) that `entry` names: `shuffle`, or the key of
// `batch: {...}`, which `on_error` may precede or follow; empty if it has neither form. Valid as
// long as `entry` is.
std::string_view NamedKind(const ConfigNode& entry);

}  // namespace stoker
