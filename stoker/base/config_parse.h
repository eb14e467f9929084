// Reads YAML with repeated keys to its end, so that `stoker check` can list them beside all other
// mistakes.
#pragma once

#include <string_view>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

struct ParsedYaml {
  ConfigNode root;  // with the first value of a repeated key
  Status repeated;  // kInvalidArgument for each repeated key (base/problems.h), with both lines
};

// ParseYaml (config.h), except that up to 100 repeated keys are collected instead of failing.
Result<ParsedYaml> ParseYamlPastRepeats(std::string_view text, std::string_view name);

}  // namespace stoker
