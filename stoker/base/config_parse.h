// Reading YAML to its end although keys stand twice in it: for `stoker check`, which lists a
// repeated key beside all other mistakes.
#pragma once

#include <string_view>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

struct ParsedYaml {
  ConfigNode root;  // of a key that stands twice in a map the first value
  Status repeated;  // kInvalidArgument for each key that does (base/problems.h), with both lines
};

// ParseYaml (config.h), but for repeated keys. After 100 of them it is an error as in ParseYaml.
Result<ParsedYaml> ParseYamlPastRepeats(std::string_view text, std::string_view name);

}  // namespace stoker
