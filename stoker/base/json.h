// The JSON type used everywhere. Objects keep their keys sorted, so equal values print equal text.
#pragma once

#include <nlohmann/json.hpp>

namespace stoker {

using Json = nlohmann::json;

}  // namespace stoker
